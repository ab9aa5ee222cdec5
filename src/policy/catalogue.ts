/** The glob catalogue (02 §13): C, W, S and A. It serves rules, and the operands that an allowlist may grant. */

/** Credentials. */
export const credentials: readonly string[] = [
  '**/{.ssh,.gnupg,.aws,.azure,.kube,.oci}/**',
  '**/.config/{gcloud,doctl,gh,hub,op,1Password,Bitwarden,keepassxc,rclone}/**',
  '**/{.password-store,.local/share/keyrings,Library/Keychains}/**',
  '**/{.electrum,.bitcoin,.ethereum/keystore,.config/solana}/**',
  '**/{wallet.dat,*.kdbx,*.keychain-db}',
  '**/{.mozilla,.config/google-chrome,.config/chromium,.config/BraveSoftware,.config/microsoft-edge}/**',
  '**/Library/Application Support/{Google/Chrome,Firefox,BraveSoftware}/**',
  '**/{.bash_history,.zsh_history,.python_history,.node_repl_history,.psql_history,.mysql_history}',
  '**/{.netrc,_netrc,.git-credentials,.npmrc,.pypirc,.pgpass,.my.cnf,.vault-token,.terraformrc}',
  '**/{.docker/config.json,.cargo/credentials,.cargo/credentials.toml,.m2/settings.xml,.terraform.d/credentials.tfrc.json}',
  '**/{id_rsa,id_dsa,id_ecdsa,id_ed25519}*',
  '/etc/{shadow,shadow-,gshadow,gshadow-,sudoers,sudoers.d/**,ssh/*_key}',
  '/{proc/**,dev/{mem,kmem,port,disk/**,input/**,mapper/**,sd*,vd*,nvme*}}',
];

/** Files that gain control. */
export const controlling: readonly string[] = [
  '**/{.config/autostart,.config/systemd,Library/LaunchAgents,Library/LaunchDaemons}/**',
  '**/{.bashrc,.bash_profile,.bash_login,.bash_logout,.profile,.zshrc,.zshenv,.zprofile,.zlogin,.kshrc,.inputrc,.xprofile,.xinitrc,.pam_environment,crontab,.crontab}',
  '**/.config/fish/**',
  '/{etc,usr,bin,sbin,boot,lib,lib64,opt,sys,var/spool/cron,System,Library}/**',
  '**/.git/**',
  '**/{.reins/**,hitl-policy*.json}',
];

/** Project files that look like secrets. */
export const secretLooking: readonly string[] = ['**/{*.pem,*.key,*.p12,*.pfx,*.jks,*.tfstate,.env,.env.*,secrets.*}'];

/** Files that run code later. */
export const runningLater: readonly string[] = [
  '**/{.vscode,.idea,.husky,.github/workflows,.direnv,.claude,.codex,.gemini,.opencode,.cursor}/**',
  '**/{.envrc,.gitattributes,.gitmodules,.gitconfig}',
];
