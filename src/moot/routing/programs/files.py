"""Programs that read, write and delete files."""
# ruff: noqa: E501 - tables: one row a line

READS = """
ls ll dir pwd cat bat less more head tail grep egrep fgrep rg ag ack zgrep wc sort uniq cut tr rev tac nl fold fmt column paste comm join diff colordiff cmp sdiff vimdiff
file stat du df tree which whereis type whatis man info apropos help date cal uptime uname arch nproc lscpu lsblk lsusb lspci lsmod lsof free vmstat iostat top htop ps pgrep
pstree id groups whoami who w last hostname echo printf true false test [ : sleep seq basename dirname realpath readlink md5sum sha1sum sha256sum sha512sum cksum b2sum xxd hexdump od
strings ping traceroute tracepath mtr dig nslookup host whois netstat ss jq yq xq fd fdfind locate exa eza lsd cloc tokei scc jobs bg fg wait cd pushd popd dirs read let shift
exit return break continue getopts ulimit umask expr bc dc factor look spell yes zcat zless bzcat xzcat nm objdump readelf ldd otool pip-audit tldr getent locale tput stty clear
reset lsattr getfacl getfattr sum tsort egrep pr numfmt hash times trap set shopt unalias alias unset export local declare readonly typeset function source-highlight
get-childitem get-content get-process select-string get-location test-path findstr tasklist systeminfo ver where ipconfig mdfind sw_vers pbpaste exiftool ffprobe identify
"""

RULES = """
high destructive rm --no-preserve-root | deletes the whole system
high destructive rm -r,-R,--recursive | deletes folders with everything in them
high destructive rm | deletes files
high destructive rmdir,rd,del,erase /s | deletes folders with everything in them
low  -           rmdir
high destructive unlink,shred,srm,wipe,wipefs,trash,remove-item,del,erase,rd,clear-content,rimraf,trash-put | deletes what it is given
high destructive clear-disk,format-volume,diskpart | erases a disk
high destructive mkfs,mkswap,newfs,mke2fs,mkfs.ext4,mkfs.xfs,mkfs.ext3,mkfs.btrfs,mkfs.vfat,mkfs.ntfs,fdisk,sfdisk,gdisk,sgdisk,parted,blkdiscard,hdparm,cryptsetup,lvremove,vgremove,pvremove,zpool,mdadm !-l,--list | changes disks and their partitions
read -           fdisk,sfdisk,parted,mdadm,hdparm,gdisk,sgdisk,zpool,cryptsetup
read -           zfs list,get
high destructive zfs destroy,rollback | destroys a file system
high destructive dd ~of=/dev/(?!null|stdout|zero).* | writes over a device
low  -           dd ~of=/dev/null
medium change    dd ~of=.* | writes over a file, block by block
low  -           dd
high destructive truncate,fallocate -s,--size,-p,--punch-hole,-z,--zero-range,-c,--collapse-range | cuts a file off
high destructive truncate | cuts a file off
medium change    mv -f,--force | overwrites without asking
high destructive mv ~/dev/null | throws files away
medium bulk      mv,move,move-item,ren ~.*[*].* | moves everything that matches
low  -           mv,cp,install,rename,move,copy,copy-item,move-item,new-item,set-content,add-content
medium change    ln -f,--force,-sf,-fs,-sfn | replaces what is there
low  -           ln,link
high security    chmod,set-acl,icacls ~0?777|0?666|a\\+rwx|a\\+w|o\\+w|ugo\\+rwx|[+]s|u[+]s|g[+]s|0?[4267]7[0-7][0-7]|777.* | opens files to everybody
medium bulk      chmod -R,--recursive | changes the rights of a whole tree
low  -           chmod ~(u|a|ug|ugo|g)?[+]x|0?[67][0-7][0-5]
medium change    chmod | changes the rights of files
high destructive chown,chgrp -R,--recursive ~/|/(etc|usr|bin|boot|lib|var|home)/? | changes who owns parts of the system
medium bulk      chown,chgrp -R,--recursive | changes who owns a whole tree
medium change    chown,chgrp,chattr,setfacl,setfattr | changes who may use files
read -           sed !-i,--in-place,-i.bak,-I
medium bulk      sed -i,--in-place,-i.bak,-I ~.*[*?].* | edits everything that matches in place
low  -           sed,perl-rename
read -           awk,gawk,mawk,nawk
medium bulk      gzip,bzip2,xz,zstd,gunzip,rename,dos2unix,unix2dos ~.*[*].* | changes everything that matches
low  -           touch,mkdir,mktemp,mkfifo,tee,split,csplit,patch,dos2unix,unix2dos,zip,gzip,bzip2,xz,zstd,gunzip,bunzip2,unxz,7z,ar,cpio,code,vim,vi,nano,emacs,open,xdg-open,ed,ex,subl,convert,magick,ffmpeg,pandoc
medium change    zip -m,--move | moves files away into an archive
high destructive tar --remove-files | deletes what it packs
read -           tar -t,--list,tf,tvf,tzf,tzvf,-tf,-tzf,-tvf,-tzvf
medium change    tar -P,--absolute-names -x,--extract,xf,xzf,xvf | unpacks over the system
medium change    tar ~/ -C,--directory -x,--extract,xf,xzf,xvf | unpacks over the system
low  -           tar,ditto
read -           unzip -l,-t,-Z,-v
medium change    unzip -o | overwrites without asking
low  -           unzip,unrar
read -           rsync -n,--dry-run
high destructive rsync --delete,--del,--delete-after,--delete-before,--delete-excluded,--delete-during,--delete-delay,--remove-source-files | deletes what the source does not have
medium change    rsync ~(?!/).*:.* | changes files on another machine
low  -           rsync
read -           rclone ls,lsd,lsl,lsf,tree,size,check,about,version,listremotes,config
read -           rclone --dry-run,-n
high destructive rclone sync,delete,purge,move,moveto,cleanup,rmdir,rmdirs,deletefile | deletes at the target what the source does not have
medium change    rclone | changes files elsewhere
medium change    scp,sftp,ftp,lftp | moves files between machines
read -           robocopy ~(?i)/l
high destructive robocopy ~(?i)/(mir|purge|move?) | deletes at the target what the source does not have
low  -           robocopy,xcopy
read -           azcopy list,ls,env,jobs,--dry-run
high destructive azcopy remove,rm | deletes what is stored
high destructive azcopy sync --delete-destination,--delete-destination=true,--delete-destination=prompt | deletes at the target what the source does not have
high destructive mc rm,rb,mirror,undo --remove,--force,rm,rb,undo | deletes what is stored
read -           mc ls,cat,stat,diff,du,find,tree,head,version
high destructive s3cmd,s5cmd,b2 del,rm,rb,sync,expire,delete-bucket,delete-file-version --delete-removed,--delete,del,rm,rb,delete-bucket,delete-file-version | deletes what is stored
read -           s3cmd,s5cmd,b2 ls,la,du,info
medium change    azcopy,mc,s3cmd,s5cmd,b2 | changes files elsewhere
high destructive unison -force,-prefer | overwrites one side with the other
high destructive cmake -E ~rm|remove|remove_directory | deletes files
high destructive clear-recyclebin,clear-eventlog | throws away what could still be recovered
high security    mshta,regsvr32,rundll32,bitsadmin,cscript,wscript,msiexec ~.*(https?://|[.]dll|/transfer|[.]hta|[.]sct).* | runs or fetches what was not read
high security    certutil -urlcache,-decode,-f | fetches or decodes what was not read
high destructive vssadmin,wbadmin,wmic,bcdedit,schtasks,reg,fsutil,cipher ~(?i)/?(delete|deletevalue|w:.*|setzerodata|shadowcopy) | takes something of the system away
low  -           reg,wmic,schtasks,fsutil,vssadmin,wbadmin,bcdedit,cipher
read -           crontab -l
high destructive crontab -r | deletes all planned jobs
medium change    crontab,at,batch,atrm | changes what runs by itself
high security    visudo,sudoedit | changes who may do everything
read -           find
low  -           sponge
"""
