"""Containers and clusters."""
# ruff: noqa: E501 - tables: one row a line

RULES = """
read -           docker,podman,nerdctl ps,images,logs,inspect,version,info,stats,top,history,search,port,diff,events
read -           docker,podman,nerdctl container,image,volume,network,context,node,service,stack,buildx,system,manifest,config,plugin ls,list,inspect,logs,ps,df,info,events,top,stats,history,du
read -           docker,podman compose ps,logs,config,top,images,ls,version,port
read -           docker-compose,podman-compose ps,logs,config,top,images,ls,version,port
high destructive docker,podman,nerdctl rm,rmi,container,image,volume,network,system,builder,context,service,stack,secret,config,node,swarm,buildx,pod,machine prune,rm,remove,rmi,reset,leave | deletes containers, images or their data
high destructive docker,podman,nerdctl rm,rmi | deletes containers or images
high destructive docker,podman compose -v,--volumes,--rmi down,rm | deletes the data of the services
high destructive docker-compose,podman-compose -v,--volumes,--rmi down,rm | deletes the data of the services
medium process   docker,podman compose down,stop,kill,restart,pause | stops the services
medium process   docker-compose,podman-compose down,stop,kill,restart,pause | stops the services
high destructive docker,podman compose rm | deletes containers
high destructive docker-compose,podman-compose rm | deletes containers
high deployment  docker,podman compose push,publish | publishes images
high deployment  docker-compose push | publishes images
medium process   docker,podman,nerdctl stop,kill,restart,pause | stops containers
medium process   docker,podman,nerdctl container stop,kill,restart,pause | stops containers
high deployment  docker,podman,nerdctl push | publishes an image
high deployment  docker,podman,nerdctl image,manifest push | publishes an image
high deployment  docker,podman buildx,build,bake --push | publishes an image
high deployment  docker,podman stack,service deploy,update,rollback,scale,create | changes what runs in the swarm
high security    docker,podman,nerdctl login,logout | changes credentials
high security    docker,podman,nerdctl run,create,exec,container,compose --privileged,--cap-add=ALL,--cap-add=SYS_ADMIN,--pid=host,--security-opt=seccomp=unconfined | runs with power over the host
high security    docker,podman,nerdctl run,create,container ~(/|/etc|/root|/home|/var/run/docker[.]sock|/var|~)(/)?:.* | gives the container parts of the host
high security    docker,podman,nerdctl run,create,container ~((-v|--volume)=?)(/|/etc|/root|/home|/var/run/docker[.]sock|/var|~)(/)?:.* | gives the container parts of the host
high security    docker,podman,nerdctl run,create,container ~(--mount=)?(.*,)?(source|src)=(/|/etc|/root|/home|/var/run/docker[.]sock|/var|~)/?(,.*)? | gives the container parts of the host
high security    docker,podman secret create | stores a secret
low  -           docker,podman,nerdctl,docker-compose,podman-compose,buildah,skopeo,crictl,ctr,minikube,kind,k3d,vagrant,colima,lima,devcontainer
high deployment  skopeo copy,sync | publishes an image
high destructive vagrant,minikube,kind,k3d destroy,delete | deletes machines
high security    kubectl,oc,k get,describe,edit,create ~secrets?(/.*)? | reads or changes secrets
high security    kubectl,oc create secret | stores a secret
high security    kubectl,oc,k config view --raw | prints credentials
high security    kubectl,oc,k create token | hands out a token
read -           kubectl,oc,k get,describe,logs,explain,top,version,cluster-info,api-resources,api-versions,diff,wait,events,status,whoami,projects
read -           kubectl,oc,k config view,get-contexts,current-context,get-clusters
medium change    kubectl,oc,k config delete-context,delete-cluster,delete-user,unset | forgets how to reach a cluster
read -           kubectl,oc,k rollout status,history
read -           kubectl,oc,k auth can-i,whoami
read -           kubectl,oc,k --dry-run,--dry-run=client,--dry-run=server !--dry-run=none
high destructive kubectl,oc,k delete,drain | takes things away from the cluster
high destructive kubectl,oc,k scale --replicas=0 | stops every copy
high destructive kubectl,oc,k replace --force | deletes and makes it anew
medium process   kubectl,oc,k scale,autoscale,cordon,uncordon,taint | changes how much runs where
high deployment  kubectl,oc,k apply,replace,patch,set,edit,rollout,kustomize,new-app,start-build | changes what runs in the cluster
high security    kubectl,oc,k certificate,adm | changes who may do what
medium change    kubectl,oc,k create,expose,run,label,annotate,cp | changes the cluster
low  -           kubectl,oc,k,kubectx,kubens,k9s,stern,kustomize
read -           kustomize build
read -           helm list,ls,status,get,show,search,history,template,lint,version,env,verify,inspect
read -           helm repo list,ls
read -           helm diff
read -           helm dependency list
read -           helm install,upgrade,uninstall,rollback,delete --dry-run
high destructive helm uninstall,delete,del,un | takes a release away
high deployment  helm install,upgrade,rollback,push | changes what runs in the cluster
low  -           helm
read -           argocd app get,list,diff,history,logs
read -           flux get,check,logs
high destructive argocd app delete | takes an application away
high deployment  argocd app sync,rollback,set,create,patch | changes what runs in the cluster
high destructive flux delete,uninstall | takes resources away
high deployment  flux reconcile,resume,suspend,create,bootstrap | changes what runs in the cluster
high deployment  skaffold run,deploy | deploys
high destructive skaffold delete | takes it away
low  -           argocd,flux,skaffold,tilt,istioctl
read -           istioctl version,analyze,proxy-status
read -           nomad status,logs
read -           nomad job status,plan,history
high destructive nomad stop,job stop,purge | stops jobs
high deployment  nomad run | starts jobs
high deployment  nomad job run | starts jobs
read -           terraform,tofu,terragrunt,tg plan,validate,show,version,providers,graph,output,console,metadata
read -           terraform,tofu,terragrunt state list,show,pull
read -           terraform,tofu,terragrunt workspace list,show
read -           terraform,tofu,terragrunt fmt -check,--check,-diff
high destructive terraform,tofu,terragrunt,cdktf destroy | destroys what it made
high destructive terraform,tofu,terragrunt apply,run-all -destroy,--destroy,destroy | destroys what it made
high destructive terraform,tofu,terragrunt run-all destroy | destroys what it made
read -           terraform,tofu,terragrunt run-all plan,validate
high destructive terraform,tofu,terragrunt state rm,push,mv,replace-provider | changes what terraform knows to exist
high destructive terraform,tofu,terragrunt workspace delete | deletes a workspace
high deployment  terraform,tofu,terragrunt,cdktf apply,deploy,run-all | changes what runs
medium change    terraform,tofu,terragrunt import,taint,untaint,refresh,force-unlock | changes what terraform knows
high security    terraform,tofu login,logout | changes credentials
low  -           terraform,tofu,terragrunt,cdktf,tflint,tfsec,infracost,packer
read -           pulumi preview,stack,whoami,logs,about,version !~rm
high destructive pulumi destroy | destroys what it made
high destructive pulumi stack rm | deletes a stack
high destructive pulumi state delete | changes what pulumi knows to exist
high deployment  pulumi up,update,import,refresh | changes what runs
high security    pulumi config --secret,set --secret | stores a secret
low  -           pulumi
read -           ansible-playbook,ansible --check,-C,--list-hosts,--list-tasks,--syntax-check
high deployment  ansible-playbook,ansible,ansible-pull | changes machines
high security    ansible-vault view,decrypt,edit,rekey | opens secrets
read -           ansible-inventory,ansible-doc,ansible-lint,ansible-config
low  -           ansible-galaxy,ansible-vault
high deployment  chef-client,puppet,salt,salt-ssh,salt-call,knife,cap,fab,mup | changes machines
"""
