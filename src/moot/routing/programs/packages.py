"""Package managers, builds and tests."""
# ruff: noqa: E501 - tables: one row a line

RUNNERS = "make gmake just rake task invoke inv fab mage nx turbo lerna gulp grunt gradle gradlew ./gradlew mvn mvnw ant sbt bazel bazelisk buck pants tox nox hatch npm yarn pnpm bun deno composer rails artisan manage.py mix lein poe pdm rush wireit earthly dagger"
"""Programs that run a task whose name tells what it does."""

RULES = """
read -           npm,yarn,pnpm,bun ls,list,view,info,show,outdated,why,root,bin,prefix,search,ping,docs,fund,explain,doctor,whoami,help,licenses,query,v
medium bulk      npm,yarn,pnpm audit fix --force | changes many versions at once
low  -           npm,yarn,pnpm,bun audit
read -           npm config get,list,ls
read -           npm,yarn,pnpm,bun,cargo,poetry,uv,hatch,flit,gem,twine publish --dry-run,-n
high deployment  npm,yarn,pnpm,bun,lerna,cargo,poetry,uv,hatch,flit,pdm,rush,vsce,ovsx,mix,jsr,deno publish,hex.publish | publishes a package for everybody
high deployment  yarn npm publish | publishes a package for everybody
high destructive npm,yarn,pnpm unpublish,deprecate | takes a package away from everybody
high destructive cargo yank | takes a package away from everybody
high destructive gem yank | takes a package away from everybody
high deployment  gem push | publishes a package for everybody
high deployment  twine upload | publishes a package for everybody
read -           twine check
high deployment  npm dist-tag add,rm | changes what everybody gets
high deployment  npm version --push | publishes a version
high security    npm,yarn,pnpm,cargo,gem,pip,poetry login,logout,adduser,token,owner,access,signin,team,org,profile | changes credentials or rights
high security    npm,yarn,pnpm config set ~.*(token|auth|strict-ssl).* | changes credentials
medium change    pip,pip3,pipx,uv install,add,pip ~git[+].*|hg[+].*|https?://.*|(-i|--index-url|--extra-index-url|--find-links|-f)(=.*)? | installs from a place of its own
medium change    npm,yarn,pnpm,bun install,i,add ~https?://.*|git[+].*|--registry(=.*)? | installs from a place of its own
medium change    gem,cargo install,add ~--source(=.*)?|--git(=.*)?|--registry(=.*)?|--index(=.*)? | installs from a place of its own
high security    pip,pip3,conda --trusted-host,--break-system-packages | leaves a safeguard out
low  -           npm,pnpm uninstall,remove,rm,un,unlink,prune,dedupe
low  -           yarn,bun remove,dedupe,unlink
low  -           npm,yarn,pnpm,bun install,i,ci,add,update,upgrade,up,link,pack,init,create,cache,version,rebuild,set,config,dlx,import,exec,x,global,workspace,workspaces
low  -           npm,yarn,pnpm test,t,start,stop,restart,build,lint,dev,format,typecheck,coverage,watch,serve
read -           pip,pip3 list,show,freeze,check,index,search,debug,inspect,help,--version
medium change    pip,pip3,pipx,conda,mamba uninstall,remove | takes packages away
read -           poetry,uv,pdm version #1
read -           poetry,uv,pdm show,tree,check
read -           poetry,uv,pdm env,pip,python,self list,info,show,freeze,tree,find,check
read -           conda,mamba list,info,search
read -           conda,mamba env list,export
medium change    conda,mamba env remove | takes packages away
read -           rustup show,check
low  -           pip,pip3,pipx,uv,conda,mamba,micromamba,poetry,pdm,pipenv,hatch,flit,virtualenv,pyenv,asdf,nvm,fnm,volta,rustup,rbenv,sdk,mise,direnv
read -           cargo tree,metadata,search,version,info,locate-project,pkgid,verify-project
read -           gem list,search,info,environment,outdated,which
read -           go version,env,list,doc
read -           go vet,help
high deployment  fastlane deliver,release,pilot,upload_to_app_store,upload_to_play_store,beta | publishes an application
high deployment  dotnet nuget push | publishes a package for everybody
high destructive dotnet ef database drop | drops a database
medium change    dotnet ef database update | changes a database
low  -           cargo,gem,bundle,bundler,go,dotnet,stack,cabal,swift,pod,fastlane,carthage,flutter,dart,nuget,vcpkg,conan
read -           brew list,info,search,outdated,doctor,deps,leaves,config,uses,desc,home,--version
medium change    brew,port,scoop,choco,winget uninstall,remove,rm,cleanup,autoremove,upgrade,zap | takes programs away or changes many
low  -           brew,port,scoop,choco,winget,mas,nix,nix-shell,nix-env,guix
read -           apt,apt-get,apt-cache,apt-mark,dnf,yum,zypper,apk,snap,flatpak list,search,show,info,policy,depends,rdepends,showmanual,check-update,repolist,provides,--simulate,--dry-run,-s
read -           dpkg -l,-L,-s,-S,--list,--status,--search,--listfiles
read -           rpm -q,-qa,-qi,-ql,-qf
read -           pacman -Q,-Qi,-Qe,-Qs,-Ss,-Si,-F
high destructive apt,apt-get,dnf,yum,zypper,pacman,apk,dpkg,rpm,snap,flatpak purge,remove,autoremove,autopurge,del,erase,uninstall,--purge,-r,-P,-e,-R,-Rs,-Rns,-rf | takes programs away from the system
medium change    apt,apt-get,dnf,yum,zypper,pacman,apk,dpkg,rpm,snap,flatpak upgrade,full-upgrade,dist-upgrade,-Syu,-Syyu,do-release-upgrade,refresh | changes many programs of the system
medium change    apt,apt-get,dnf,yum,zypper,pacman,apk,dpkg,rpm,snap,flatpak install,add,-S,-i,-U,-ivh,localinstall | changes the programs of the system
low  -           apt,apt-get,dnf,yum,zypper,pacman,apk,snap,flatpak,apt-cache,apt-key,apt-mark,add-apt-repository,dpkg,rpm
read -           pytest,py.test --collect-only,--co,--version,--fixtures,--markers
low  -           pytest,py.test,tox,nox,coverage,jest,vitest,mocha,ava,playwright,cypress,rspec,phpunit,ctest,gtest,karma,behave,robot,unittest,nosetests
read -           eslint,prettier,ruff,black,isort,stylelint --check,-c,--list-different,--diff !--fix,--write,-w
read -           ruff check !--fix,--fix-only,--unsafe-fixes
read -           mypy,pyright,flake8,pylint,shellcheck,hadolint,yamllint,actionlint,bandit,vulture,radon,pycodestyle,pydocstyle,staticcheck,golint,rubocop,markdownlint,codespell,pyflakes !-a,-A,--auto-correct,--autocorrect,--fix,--install-types,-w,--write-changes
low  -           mypy,pyright,flake8,pylint,rubocop,markdownlint,codespell,golangci-lint,semgrep,snyk,trivy
read -           tsc --noEmit
low  -           eslint,prettier,ruff,black,isort,stylelint,tsc,webpack,vite,rollup,esbuild,parcel,swc,babel,next,nuxt,astro,gofmt,rustfmt,clang-format,cmake,ninja,meson,gcc,g++,clang,cc,c++,rustc,javac,java,kotlinc,scalac,ghc,ld,as,autoconf,automake,configure,protoc,buf,sphinx-build,mkdocs,hugo,jekyll,storybook,nodemon,pm2,gunicorn,uvicorn,flask,celery,jupyter,streamlit,http-server,serve,live-server,ngrok,cloudflared,ollama,claude,codex,aider,moot
read -           gofmt,rustfmt -l,-d,--check
high deployment  mkdocs gh-deploy | publishes the pages
medium process   pm2 delete,kill,stop,restart | stops programs
read -           pm2 list,ls,logs,status,show,monit
high destructive alembic,flyway,liquibase,knex,prisma,drizzle-kit,sequelize,goose,migrate,dbmate,sqlx,diesel,atlas,typeorm downgrade,clean,drop,reset,rollback,undo,down,dropall,drop-all,db:drop,db:migrate:undo,schema:drop,revert,rollback-count | takes tables or data away
high destructive prisma,sequelize,sqlx,diesel,typeorm migrate,database,db reset,drop,push --accept-data-loss,--force-reset,reset,drop | takes tables or data away
high destructive prisma,sqlx,diesel,atlas migrate,database,db,schema reset,drop,clean | takes tables or data away
high destructive prisma db push --accept-data-loss,--force-reset | takes tables or data away
read -           prisma,sequelize,sqlx,diesel,atlas,typeorm migrate,migration,database,db,schema status,info,list,history,validate,diff
read -           alembic,flyway,prisma,knex,goose,dbmate,migrate history,current,heads,info,validate,status,version,branches,show,check
low  -           alembic,prisma,knex,goose revision,generate,format,init,create,studio,migrate:make
medium change    alembic,flyway,liquibase,knex,prisma,drizzle-kit,sequelize,goose,migrate,dbmate,sqlx,diesel,atlas,typeorm | changes the tables of a database
"""
