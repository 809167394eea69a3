"""git, GitHub's and GitLab's commands."""
# ruff: noqa: E501 - tables: one row a line

RULES = """
read -           git status,log,show,diff,blame,shortlog,describe,rev-parse,rev-list,ls-files,ls-tree,ls-remote,cat-file,grep,whatchanged,reflog,name-rev,merge-base,for-each-ref,count-objects,fsck,show-ref,var,version,help,range-diff,cherry,diff-tree,check-ignore,annotate,show-branch,verify-commit,bugreport !~expire|delete !--output
high destructive git reflog expire,delete | throws away what could still be recovered
low  -           git diff,log,show
read -           git clean,push,add,commit,rm,mv,fetch,prune,merge,worktree,pull -n,--dry-run
read -           git branch -a,-r,-v,-vv,--list,-l,--show-current,--all,--contains,--merged,--no-merged,--remotes !-d,-D,-m,-M,-f,--delete,--force
read -           git branch #1 !-d,-D,-m,-M,-c,-C,-f,--delete,--force,--move,--edit-description,-u,--unset-upstream
high destructive git branch -D | deletes a branch with work that may be nowhere else
high destructive git branch -d,--delete -f,--force | deletes a branch with work that may be nowhere else
medium change    git branch -f,--force,-M,-C | moves a branch away from its commits
low  -           git branch
read -           git tag -l,--list,-n
read -           git tag #1
high destructive git tag -d,--delete | deletes a tag
medium change    git tag -f,--force | moves a tag
low  -           git tag
read -           git stash list,show
high destructive git stash drop,clear | throws away stashed work
low  -           git stash
read -           git remote -v,--verbose,show,get-url
read -           git remote show,get-url
read -           git remote #1
medium change    git remote remove,rm,set-url,rename,prune | changes where the work goes
low  -           git remote
read -           git config --get,--list,-l,--get-all,--get-regexp,--show-origin,--get-urlmatch
read -           git config get,list
high security    git config ~(?i)http[.]sslverify ~false|0 | switches certificate checks off
high security    git config ~(?i)(core[.](sshcommand|hookspath|fsmonitor|editor|pager|askpass|gitproxy)|diff[.]external|diff[.].*[.](command|textconv)|pager[.].*|sequence[.]editor|gpg[.].*program|(diff|merge)tool[.].*[.]cmd|protocol[.].*allow|credential[.].*|alias[.].*|url[.].*|include.*|filter[.].*) | changes what git itself runs
read -           git config #2 !--unset,--unset-all,-e,--edit,--add,--replace-all,--remove-section
low  -           git config
read -           git notes list,show
read -           git worktree list
high destructive git worktree remove -f,--force | deletes a work tree with its changes
medium change    git worktree remove,prune | deletes a work tree
low  -           git worktree
read -           git submodule status,summary
medium change    git submodule deinit | empties a submodule
low  -           git submodule
read -           git bisect log,view,visualize
low  -           git bisect
read -           git lfs ls-files,status,env,version
medium change    git lfs prune,migrate | rewrites large files
low  -           git lfs
high destructive git push --mirror,--prune | makes the remote equal to this copy
high destructive git push -f,--force,--force-with-lease,--force-if-includes | rewrites what others have
high destructive git push -d,--delete | deletes a branch or tag for everybody
high destructive git push ~[+].+|:.+ | rewrites or deletes what others have
high deployment  git push ~(.*:)?(refs/heads/)?(main|master|prod|production|release|live|stable|gh-pages|trunk|deploy)(/.*)? | goes straight to a branch others build on
high deployment  git push ~heroku|dokku|production|prod|live|deploy|azure | pushing there deploys it
medium change    git push --all,--tags,--follow-tags | pushes more than one branch
medium scope     git push #2 | which branch it goes to is not said
medium scope     git push #1 | which branch it goes to is not said
medium scope     git push ~HEAD | which branch it goes to is not said
high deployment  git push ~(refs/tags/)?v?\\d+[.]\\d+.* | publishes a version
low  -           git push
high destructive git reset --hard | throws away work that is not committed
medium change    git reset --merge,--keep | may throw away work that is not committed
low  -           git reset
high destructive git clean -f,--force,-fd,-fdx,-x,-X,-d | deletes files git does not know
low  -           git clean
high destructive git checkout,switch -f,--force,--discard-changes | throws away work that is not committed
high destructive git checkout -- | throws away work that is not committed
high destructive git checkout ~[.]|:/|[*].*|[.]/ | throws away work that is not committed
high destructive git checkout --theirs,--ours | throws one side of a conflict away
low  -           git checkout,switch
low  -           git restore --staged,-S !--worktree,-W
high destructive git restore | throws away work that is not committed
high destructive git filter-branch,filter-repo | rewrites the whole history
high destructive git gc,prune --prune,--prune=now,--aggressive | throws away what could still be recovered
high destructive git prune,prune-packed | throws away what could still be recovered
low  -           git gc,repack,pack-refs,maintenance
high destructive git update-ref,replace,symbolic-ref -d,--delete | deletes a reference
medium change    git update-ref,symbolic-ref,replace | moves a reference by hand
read -           git rebase --show-current-patch
low  -           git rebase,merge,cherry-pick,revert,am --abort,--continue,--quit
medium change    git rebase | rewrites commits
low  -           git rm --cached
high destructive git rm -r,-f,--force | deletes files from the work tree
medium change    git rm | deletes files from the work tree
high security    git credential,credential-store,credential-cache | hands out stored credentials
high destructive git svn,p4 | writes to another version control
low  -           git
read -           hg,jj status,log,diff,show,annotate,branches,tags,heads,id,summary
high destructive hg strip,purge,rollback,histedit | rewrites history
low  -           hg,jj,svn
read -           gh pr,issue,run,release,repo,workflow,gist,label,cache,ruleset,project list,view,status,diff,checks,watch,download
high security    gh auth token | prints a token
read -           gh auth status
read -           gh status,search,browse,version
read -           gh api !-X,--method,-f,-F,--field,--raw-field,--input
high destructive gh api -X=DELETE,--method=DELETE,-XDELETE | deletes something
medium change    gh api | changes something
high destructive gh repo,release,issue,gist,label,run,secret,variable,cache,ssh-key,gpg-key,codespace,project delete,archive,delete-asset,remove | deletes something for everybody
high deployment  gh pr merge | merges for everybody
high deployment  gh release create,edit,upload | publishes a version
high deployment  gh workflow,run run,rerun,enable,disable | starts a pipeline
high security    gh secret,ssh-key,gpg-key,auth set,add,login,refresh,logout,setup-git | changes credentials
medium change    gh repo edit,rename,create,sync,transfer,fork | changes the repository for everybody
medium change    gh pr,issue close,lock,transfer | closes it for everybody
medium unclear   gh alias set ~!.* | makes a command that runs a shell
medium unclear   gh extension install,upgrade | installs a program of somebody else
low  -           gh
read -           glab mr,issue,ci,release,repo list,view,status,diff
high deployment  glab mr merge | merges for everybody
high deployment  glab release create | publishes a version
high destructive glab repo,release,issue,mr,variable delete | deletes something for everybody
low  -           glab,pre-commit,lefthook,husky,git-lfs,tig,lazygit
high destructive bfg,git-filter-repo | rewrites the whole history
"""
