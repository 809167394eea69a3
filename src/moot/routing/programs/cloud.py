"""Cloud and hosting tools, and their secrets."""
# ruff: noqa: E501 - tables: one row a line

VERBED = "aws gcloud az doctl flyctl fly heroku vercel netlify wrangler railway render supabase firebase eb sam cdk serverless sls oci ibmcloud linode-cli hcloud scw exo openstack gsutil bq cf eksctl copilot amplify"
"""Programs whose verbs tell what they do: `describe-…`, `list`, `delete-…`."""

RULES = """
high security    aws secretsmanager,ssm get-secret-value,put-secret-value,create-secret,update-secret,get-parameter,get-parameters,get-parameters-by-path,put-parameter --with-decryption,get-secret-value,put-secret-value,create-secret,update-secret | opens or changes a secret
high security    aws secretsmanager get-secret-value,put-secret-value,create-secret,update-secret,restore-secret,rotate-secret | opens or changes a secret
high security    aws ssm get-parameter,get-parameters,get-parameters-by-path --with-decryption | opens a secret
high security    aws iam,sts,organizations,kms,cognito-idp,sso-admin ~(create|attach|put|update|detach|add|remove|delete|set|enable|disable|schedule|upload|change|reset|admin)-.* | changes who may do what
high security    aws ec2 authorize-security-group-ingress,authorize-security-group-egress,modify-instance-attribute,create-key-pair,import-key-pair | changes who may come in
high security    aws s3api put-bucket-policy,put-bucket-acl,put-object-acl,delete-public-access-block,put-public-access-block | changes who may read
read -           aws configure list,list-profiles
high security    aws configure | changes credentials
high security    aws ecr get-login-password | hands out a password
high security    aws sts assume-role,get-session-token | hands out credentials
read -           aws sts get-caller-identity
read -           aws s3 ls,presign
read -           aws s3,ec2,rds --dry-run,--dryrun
high destructive aws s3 rm,rb | deletes what is stored
high destructive aws s3 sync,mv,cp --delete | deletes at the target what the source does not have
medium bulk      aws s3 sync,mv --recursive,sync,mv | copies whole trees
medium bulk      aws s3 sync,mv | copies whole trees
medium bulk      aws s3 cp --recursive | copies whole trees
high security    aws s3,s3api --acl=public-read,--acl=public-read-write | lets everybody read it
low  -           aws s3 cp,mb,website
high deployment  aws lambda update-function-code,update-function-configuration,publish-version,update-alias,create-function | changes what runs
high deployment  aws ecs,codedeploy,codepipeline,elasticbeanstalk,amplify,apprunner,cloudfront ~(update|create|start|deploy|register|run)-.* | changes what runs
high deployment  aws cloudformation deploy,create-stack,update-stack,execute-change-set | changes what runs
high destructive aws cloudformation delete-stack | takes it all away
high process     aws ec2,rds,ecs,eks stop-instances,reboot-instances,stop-db-instance,reboot-db-instance,stop-db-cluster,stop-task | stops machines
high security    gcloud iam,projects,kms add-iam-policy-binding,remove-iam-policy-binding,set-iam-policy | changes who may do what
high security    gcloud ~add-iam-policy-binding|remove-iam-policy-binding|set-iam-policy|print-access-token|print-identity-token | changes who may do what
high security    gcloud auth login,revoke,activate-service-account,application-default,print-access-token,print-identity-token | changes credentials
read -           gcloud auth list
high security    gcloud secrets versions access,create,add | opens or changes a secret
high security    gcloud iam service-accounts keys | makes credentials
high security    az keyvault secret show,set,download,list | opens or changes a secret
high security    az role,ad ~(create|add|update|delete|reset) | changes who may do what
high security    az login,logout,account get-access-token | changes credentials
read -           gsutil ls,cat,du,stat,hash,version
high destructive gsutil rm,rb | deletes what is stored
high destructive gsutil rsync -d | deletes at the target what the source does not have
high security    gsutil iam,acl,defacl | changes who may read
medium bulk      gsutil rsync,mv | moves whole trees
low  -           gsutil cp,mb
read -           bq ls,show,head
high destructive bq rm | deletes tables
low  -           bq
high security    heroku,vercel,netlify,railway,fly,flyctl,wrangler,supabase,firebase,eb,cf,doctl,render login,logout,auth,secrets,secret,config:set,env,certs,tokens,authorizations | changes credentials or secrets
high security    heroku config #1 | prints secrets
high destructive heroku pg:reset,apps:destroy,pg:psql,addons:destroy,pg:restore,pg:promote,domains:clear,apps:delete | takes data or applications away
high deployment  heroku releases:rollback,rollback,pipelines:promote,container:release,container:push | changes what runs
medium process   heroku ps:restart,restart,ps:scale,dyno:restart,maintenance:on | stops or restarts it
read -           heroku logs,ps,apps,releases,info,addons,status,pg:info
high deployment  vercel,netlify --prod,--production | goes live
high deployment  vercel #0 | deploys
low  -           vercel,netlify dev,link,pull,init,build
low  -           wrangler,firebase,supabase,sam,sls,serverless,cdk,eb,fly,flyctl dev,init,build,local,emulators:start,start,serve,synth,package,validate,invoke
read -           cdk,sam,sls,serverless diff,ls,list,doctor,print,validate,info,logs
high deployment  eb,fly,flyctl,cdk,sam,sls,serverless,firebase,wrangler,copilot,amplify,cf,railway,gcloud,az,supabase deploy,publish,up,push,release,db | changes what runs
high destructive cdk,sam,sls,serverless,fly,flyctl,eb,wrangler,copilot,amplify,cf,railway destroy,delete,remove,terminate,down,rm | takes it all away
high security    vault read,kv,write,delete,token,login,policy,unseal,operator,auth,secrets,lease,print !~list|status | opens or changes secrets
read -           vault status,version,list
low  -           openssl base64
high security    pass,op,bw,gopass,lpass,sops,keybase,security,gpg,gpg2,ssh-keygen,ssh-add,ssh-copy-id,openssl,certbot,age,keytool,secret-tool,keyring,kinit,aws-vault,chamber,doppler,infisical -d,--decrypt,--export-secret-keys,--delete-key,--delete-keys,--delete-secret-keys,-D,-R | opens or changes secrets
high security    pass,op,bw,gopass,lpass,ssh-keygen,ssh-copy-id,certbot,keytool,secret-tool,keyring,aws-vault,chamber,doppler,infisical | opens or changes secrets
high security    openssl genrsa,genpkey,rsa,pkcs12,pkey,req,enc,passwd | makes or opens keys
read -           openssl version,s_client,x509,dgst,verify,ciphers,speed,rand
high security    security ~(find|dump|delete|add|import|export|set)-.* | opens or changes secrets
high security    ssh-add #1 | hands a key to the agent
read -           ssh-add -l,-L
low  -           ssh-add,ssh-agent,openssl,age,sops,gpg,gpg2,security,ssh-keyscan,vault
"""
