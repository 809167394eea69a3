"""Processes, services, accounts, networks and databases."""
# ruff: noqa: E501 - tables: one row a line

RULES = """
high destructive shutdown,reboot,halt,poweroff,init,telinit,stop-computer,restart-computer | stops the machine
read -           kill -l,--list,-L
high destructive kill ~-?1 ~-9|-KILL|-SIGKILL|-1 | ends everything
read -           kill -0
medium process   kill,stop-process,taskkill | ends a process
medium process   pkill,killall,skill,xkill,fuser | ends every process that matches
low  -           renice,ionice,chrt,taskset
read -           systemctl,service,rc-service,launchctl,sc,brew-services,initctl,supervisorctl status,list-units,list-unit-files,is-active,is-enabled,is-failed,show,cat,list,print,list-timers,list-dependencies,get-default
read -           systemctl #0
high process     systemctl,rc-service,launchctl,initctl stop,disable,mask,kill,isolate,poweroff,reboot,halt,rescue,emergency,remove,bootout,unload | stops a service of the machine
read -           service,rc-service * status
high process     service,rc-service,supervisorctl * stop | stops a service of the machine
high process     supervisorctl stop,shutdown,remove | stops a service of the machine
medium process   systemctl,service,rc-service,launchctl,sc,initctl,supervisorctl,update-rc.d,chkconfig,rc-update | changes a service of the machine
read -           journalctl,dmesg,loginctl,hostnamectl,timedatectl,localectl,resolvectl,networkctl !--vacuum-size,--vacuum-time,--rotate,-C,-c,--clear,set-hostname,set-time,set-timezone,terminate-user,kill-session
high destructive journalctl,dmesg --vacuum-size,--vacuum-time,--vacuum-files,--rotate,-C,-c,--clear | throws logs away
medium change    loginctl,hostnamectl,timedatectl,localectl,networkctl | changes the machine
read -           iptables,ip6tables,nft,ufw,firewall-cmd,pfctl -L,--list,-S,status,list,--list-all,--state,-s
high security    iptables,ip6tables,nft,ufw,firewall-cmd,pfctl,iptables-restore,ipset,setenforce,semanage,aa-disable,apparmor_parser,spctl,csrutil,fail2ban-client,netsh | changes what protects the machine
read -           getenforce,sestatus,aa-status
high security    passwd,chpasswd,useradd,adduser,usermod,userdel,deluser,groupadd,groupmod,groupdel,gpasswd,chage,vipw,dscl,htpasswd,newgrp,smbpasswd,pwconv,net | changes accounts
high security    setcap | gives a program rights of its own
high destructive userdel,deluser -r,--remove | deletes an account with its files
read -           ip,ifconfig,route,arp,iwconfig,nmcli,ethtool,brctl #0
read -           ip addr,a,address,link,route,r,neigh,rule,-4,-6,-br !~add|del|delete|flush|set|change|replace
read -           ip addr,a,address,link,route,r,neigh show,list
read -           nmcli device,connection,general,radio,dev,con status,show,list
medium process   ip,ifconfig,route,arp,nmcli,brctl,ifup,ifdown,ethtool,iwconfig,wg-quick,tc,sysctl,dhclient,networksetup -w,--write,add,del,delete,flush,set,change,replace,up,down,-p | changes the network of the machine
read -           sysctl !-w,-p,--system,--write,--load
medium change    sysctl,ip,ifconfig,route,arp,nmcli,ifup,ifdown,tc | changes the machine
read -           mount #0
medium change    mount,umount,swapon,swapoff,losetup,modprobe,insmod,rmmod,update-grub,grub-install,dracut,update-initramfs,ldconfig,update-alternatives,depmod,eject,diskutil,hdiutil,defaults,nvram,dconf,gsettings | changes the machine
high destructive diskutil,hdiutil erasedisk,erasevolume,partitiondisk,zerodisk,eraseDisk,eraseVolume,partitionDisk | erases a disk
read -           diskutil list,info
read -           defaults read
high security    printenv @alone | prints every secret of the environment
high security    export,declare,typeset -p | prints every secret of the environment
medium change    date -s,--set | sets the clock
medium change    hostname #1 | renames the machine
low  -           sort,uniq,tree -o,--output
read -           printenv
high security    export,declare,set,typeset @alone | prints every secret of the environment
high destructive history -c,-d,-w | deletes the record of what was done
medium change    history -a,-w,-n #1 | writes what was typed into a file
medium unclear   fc -s,-e | runs an earlier command again
read -           history,fc
high security    tcpdump,wireshark,tshark,nmap,masscan,hydra,john,hashcat,sqlmap,msfconsole,nikto,gobuster,ettercap,aircrack-ng,mimikatz,mitmproxy,strace,ltrace,gdb,lldb,ptrace | looks where it may not be welcome
high security    nc,ncat,netcat,socat,telnet -e,-c,--exec,-l,--listen,-lvp,-lvnp,-lnvp,EXEC | opens a way into the machine
medium change    nc,ncat,netcat,socat,telnet | talks to another machine
read -           nc,ncat,netcat -z
low  -           tmux,screen,script,logger,wall,write,mail,sendmail,xclip,pbcopy,notify-send,say,wget,curl,http,https,aria2c,yt-dlp,axel
high destructive dropdb,dropuser | drops a database
high security    createuser | makes an account
low  -           createdb,pg_dump,pg_dumpall,mysqldump,mongodump,mongoexport,pg_ctl,initdb,vacuumdb,reindexdb
read -           pg_isready
high destructive pg_restore,mongorestore -c,--clean,--drop,--create | writes over a database
medium change    pg_restore,mongorestore,mongoimport,mysqlimport | writes into a database
high destructive mysqladmin drop,shutdown,flush-hosts,kill | takes a database away
high security    mysqladmin password | changes a password
low  -           mysqladmin
read -           redis-cli -h #0
read -           redis-cli ~(?i)(get|mget|hget|hgetall|keys|scan|info|ping|ttl|type|exists|llen|lrange|smembers|scard|zrange|zcard|dbsize|monitor|client|memory|slowlog|strlen|hkeys|hlen|object|time|lastsave|command|--scan|--stat|--bigkeys) !~(?i)(kill|reset|set|purge|rewrite|resetstat)
high destructive redis-cli ~(?i)(flushall|flushdb|del|unlink|shutdown|getdel|hdel|ltrim|srem|zrem|lrem|spop|swapdb|failover|debug|migrate|slaveof|replicaof|cluster|script|eval) | throws stored data away
high security    redis-cli ~(?i)config ~(?i)set | changes how the store is protected
high security    redis-cli ~(?i)(acl|auth) | changes credentials
high destructive etcdctl del,defrag | deletes keys
read -           etcdctl get,endpoint,member
high destructive kafka-topics,kafka-topics.sh,kafka-delete-records,kafka-delete-records.sh,kafka-consumer-groups,kafka-consumer-groups.sh --delete,--reset-offsets,--offset-json-file | deletes a topic
read -           kafka-topics,kafka-topics.sh,kafka-consumer-groups,kafka-consumer-groups.sh --list,--describe
high destructive rabbitmqctl,rabbitmqadmin reset,force_reset,delete,purge,purge_queue,delete_queue,delete_vhost,stop_app,stop,delete_user | throws messages away
read -           rabbitmqctl,rabbitmqadmin status,list_queues,list_users,list,list_exchanges,show
read -           consul members,info,catalog
high destructive consul kv delete | deletes keys
low  -           redis-cli,etcdctl,kafka-topics,kafka-topics.sh,kafka-consumer-groups,kafka-consumer-groups.sh,rabbitmqctl,rabbitmqadmin,memcached-tool,consul
high destructive velero,restic,borg,duplicity,tmutil delete,forget,prune,purge,remove-all-but-n-full | deletes backups
read -           velero,restic,borg,tmutil list,snapshots,info,get,stats,check,ls,describe,listbackups
low  -           velero,restic,borg,duplicity,tmutil
high security    base64 ~.*(id_rsa|id_ed25519|[.]pem|[.]key|[.]env).* | encodes a secret
read -           base64,base32,iconv,uuidgen,xmllint,envsubst,gettext,getconf,lshw,dmidecode,inxi,neofetch,acpi,sensors,nvidia-smi,lastlog,finger,users,runlevel,pmap,pidof,pidstat,mpstat,sar,dstat,iotop,iftop,nethogs,glances,watchexec,cheat,howdoi,fzf,peco,ts,tput,pv,column,dot,gnuplot,units,cowsay,fortune,figlet,lolcat,sl,cmatrix,nproc
"""
