import { describe, expect, it } from 'vitest';
import type { LoadedPolicy } from '../../src/schema/policy.ts';
import { judge, load, plainHost } from './virtual-host.ts';

/** What the shipped tables accept (+) and what withdraws the grant (-): a listed program, and behind each bar its words. */
const table = `
  + ls ¦ -1 ¦ -A -F -G -R ¦ -laht ¦ -S -a -d -h -i -k -l -n -p -r -s -t -x
  + ls ¦ --all --almost-all --human-readable --recursive ¦ --color ¦ --color=never ¦ -- -x ¦ src a
  - ls ¦ -Z ¦ -c ¦ -u ¦ -laZ ¦ --color=always ¦ --color=auto ¦ --colo ¦ --al ¦ --sort=size ¦ -w 3 ¦ -I x ¦ / ¦ ..
  - ls ¦ --all=1 ¦ ~ ¦ ---all ¦ --time-style=+x
  + cat ¦ -A x ¦ -bEnsTv x ¦  ¦ - ¦ -n -
  - cat ¦ -e x ¦ -t x ¦ -u x ¦ --number x ¦ --show-all x ¦ /etc/passwd
  + head ¦ -5 x ¦ -n 5 x ¦ -n5 x ¦ -c 5 x ¦ -c5 x ¦ -q -v x ¦ -qv x ¦ -n -5 x ¦ x y ¦ -100
  - head ¦ -n ¦ -z x ¦ --lines=5 x ¦ -5x x ¦ -n 5 /etc/x ¦ -c
  + tail ¦ -5 x ¦ -n 5 x ¦ -n +5 x ¦ -c 3 x ¦ -qv x
  - tail ¦ -f x ¦ -F x ¦ --follow x ¦ -5f x ¦ --pid=1 x ¦ -r x
  + wc ¦  ¦ -clLmw x ¦ -l x y
  - wc ¦ --lines x ¦ --files0-from=x ¦ -x
  + pwd ¦  ¦ -L ¦ -P ¦ -LP
  - pwd ¦ x ¦ --help ¦ -W
  + echo ¦  ¦ -n x ¦ a b /etc/passwd ¦ -- -e
  - echo ¦ -e x ¦ -E x ¦ -ne x ¦ --help
  + basename ¦ /a/b ¦ a b
  - basename ¦ -a x ¦ -s x y
  + dirname ¦ /a/b
  - dirname ¦ -z x
  + true ¦  ¦ x
  - true ¦ -x ¦ --help
  + false ¦ 
  - false ¦ --version
  + printf ¦ x ¦ %s /etc/passwd
  - printf ¦ -v x y ¦ -x
  + uname ¦  ¦ -a ¦ -amrs
  - uname ¦ -n ¦ -v ¦ --all
  + whoami ¦ 
  - whoami ¦ x ¦ --help
  + id ¦ 
  - id ¦ root ¦ -u ¦ -un
  + hostname ¦ 
  - hostname ¦ evil ¦ -f ¦ -i ¦ -F x
  + which ¦ ls ¦ -a ls
  - which ¦ -s ls ¦ --all ls
  + grep ¦ x f ¦ -A 3 x f ¦ -A3 x f ¦ -B 1 -C 2 -m 5 x f ¦ -e x f ¦ -e x -e y f ¦ -ex f ¦ -f pats f ¦ -E -F -G -P x f
  + grep ¦ -HLchilnoqsvwxz x f ¦ -in x f ¦ --include=*.c x f ¦ --exclude=x y f ¦ --exclude-dir=d x f ¦ --color x f
  + grep ¦ --color=never x f ¦ /etc/passwd f ¦ -- -x f ¦ ../.. f ¦ x ¦ -R x f ¦ -nR x f
  - grep ¦ -a x f ¦ -b x f ¦ -y x f ¦ --file=/etc/x f ¦ -f /etc/x f ¦ -f/etc/x f ¦ -e x /etc/passwd ¦ x /etc/passwd
  - grep ¦ --regexp=x f ¦ -A ¦ --context=3 x f ¦ x .env ¦ -e x .env ¦ -r x / ¦ -R x .. ¦ -R x ¦ x f ../y ¦ -f .env f
  + rg ¦ x ¦ x src ¦ -A 1 -B 2 -C3 x ¦ -m 5 x ¦ -e x src ¦ -g *.ts x ¦ -t ts x ¦ -T js x ¦ -FSUcilnosvwx x ¦ --files
  + rg ¦ --files src ¦ --hidden x ¦ --heading x ¦ --no-heading x ¦ --json x ¦ --stats x ¦ /etc/passwd src
  - rg ¦ --pre x y ¦ --pre=x y ¦ -z x ¦ --search-zip x ¦ -u x ¦ -uu x ¦ --no-ignore x ¦ -f x y ¦ --file=x y ¦ --follow x
  - rg ¦ -L x ¦ --hostname-bin=x y ¦ --ignore-file=x y ¦ x /etc ¦ -e x /etc ¦ --files /etc ¦ -r x y ¦ --hid x
  + stat ¦ x ¦ -L x ¦ -c %s x ¦ -f x
  - stat ¦ -t x ¦ --format=%s x ¦ /etc/x ¦ --printf=x y
  + file ¦ x ¦ -b x ¦ -i -h x ¦ --mime-type x
  - file ¦ -f list ¦ -m magic x ¦ -C x ¦ -z x ¦ -s x ¦ /etc/passwd
  + cut ¦ -f 1 x ¦ -f1 -d, x ¦ -d: -f1 x ¦ -b 1 x ¦ -c1-3 x ¦ -s -f1 x
  - cut ¦ --fields=1 x ¦ --output-delimiter=x y ¦ -n x ¦ -f1 /etc/passwd
  + diff ¦ a b ¦ -u a b ¦ -U 3 a b ¦ -U3 a b ¦ -rqwBbiNy a b ¦ --color a b
  - diff ¦ --to-file=/etc/x a ¦ --from-file=x y ¦ -F x a b ¦ a /etc/passwd ¦ --unified a b ¦ -l a b ¦ -x p a b
  - diff ¦ -X p a b
  + cmp ¦ a b ¦ -l a b ¦ -s a b
  - cmp ¦ -b a b ¦ --bytes=3 a b ¦ a /etc/x
  + sort ¦  ¦ -bdfghiMnRrsuVz x ¦ -k 2 x ¦ -k2 x ¦ -t, -k1 x ¦ -S 1k x ¦ --key=2 x ¦ --key 2 x ¦ --field-separator=, x
  + sort ¦ --reverse --unique x
  - sort ¦ -o x y ¦ -ox y ¦ -no x y ¦ --output=x y ¦ -T /tmp x ¦ --temporary-directory=x y ¦ --compress-program=x y
  - sort ¦ --files0-from=x ¦ -m x ¦ -c x ¦ --rev x ¦ --batch-size=3 x ¦ --parallel=3 x ¦ --random-source=x y
  - sort ¦ /etc/passwd ¦ -k ¦ x -o y
  + uniq ¦  ¦ x ¦ -c -d -D -i -u x ¦ -f 1 x ¦ -f1 -s 2 -w 3 x
  - uniq ¦ x y ¦ -c x y ¦ --count x ¦ -z x ¦ /etc/x ¦ -- x y
  + date ¦  ¦ -u ¦ -I ¦ -R ¦ +%s ¦ -u '+%Y %m' ¦ +
  - date ¦ -d x ¦ -s x ¦ --date=x ¦ -f x ¦ -r x ¦ 01010000 ¦ --set=x ¦ -uI x ¦ x+ ¦ +%s x
  + sed ¦ -n 1p x ¦ -n '1,5p' x ¦ -n '1,$p' x ¦ -n 10p
  - sed ¦ 1p x ¦ -n p x ¦ -n '1d' x ¦ -n '/x/p' y ¦ -n '$p' x ¦ -n -i 1p x ¦ -ni 1p x ¦ -n -e 1p x ¦ -n -f x y
  - sed ¦ -n '1p;2p' x ¦ -n '1,5p
w x' y ¦ -n '1w x' y ¦ -n 1p /etc/passwd ¦ --quiet 1p x ¦ -n -E 1p x ¦ -n '1,p' x
  - sed ¦ -n ' 1p' x
  + find ¦  ¦ . ¦ src -name x ¦ . -iname x -path y -ipath z ¦ . -type f -maxdepth 3 -mindepth 1
  + find ¦ . -size +1k -mtime -3 -mmin 5 ¦ . -newer x ¦ . -empty -print ¦ . -print0 ¦ -H . -name x ¦ -P . -name x
  + find ¦ . -name a -prune -o -print ¦ . -not -name x ¦ . -name a -or -name b ¦ . -name a -a -name b
  + find ¦ . -name a -and -name b ¦ . '!' -name x ¦ . '(' -name x ')' -print ¦ src lib -name x
  - find ¦ . -delete ¦ . -exec ls ¦ . -execdir ls ¦ . -ok ls ¦ . -fls x ¦ . -fprint x ¦ . -fprintf x y ¦ . -fprint0 x
  - find ¦ . -ls ¦ . -printf x ¦ -L . -name x ¦ . -follow ¦ . -newer /etc/x ¦ / -name x ¦ .. -name x ¦ . -regex x
  - find ¦ . -perm 4 ¦ . -user x ¦ . -files0-from x ¦ -f x ¦ . -samefile x ¦ . -maxdepth ¦ -D x . ¦ -O3 .
  - find ¦ . -name x /etc ¦ . -newermt x ¦ . --name x
  + tar ¦ -tf a.tar ¦ -t -f a.tar ¦ --list -f a.tar ¦ -tvf a.tar ¦ -tzf a.tar ¦ -tjf a ¦ -tJf a ¦ -t -v -z -f a.tar x
  - tar ¦ -xf a.tar ¦ tf a.tar ¦ -cf a x ¦ -f a.tar ¦ -tf h:x ¦ -tf /etc/x ¦ -t -I x -f a ¦ --list --file=a
  - tar ¦ -tf a --to-command=x ¦ -tf a -C / ¦ --lis -f a ¦ -tf
  + git ¦ status ¦ status -s ¦ status -sb ¦ status -u ¦ status --short --branch ¦ status --porcelain
  + git ¦ status --porcelain=v2 ¦ status --ignored ¦ status --ignored=matching ¦ status --untracked-files ¦ status src
  + git ¦ log ¦ log -5 ¦ log --oneline ¦ log -p ¦ log -u ¦ log -n 5 ¦ log -n5 ¦ log -U3 -p ¦ log -s
  + git ¦ log --stat --shortstat --numstat ¦ log --name-only --name-status ¦ log --graph --decorate --all
  + git ¦ log --format=%H ¦ log --pretty=oneline ¦ log --since=yesterday ¦ log --until=x ¦ log --author=x ¦ log --grep=x
  + git ¦ log --no-merges ¦ log --merges ¦ log --first-parent --reverse ¦ log --follow x ¦ log --date=iso
  + git ¦ log --no-color ¦ log HEAD~3..HEAD ¦ log main -- src ¦ show ¦ show HEAD ¦ show HEAD:src/a
  + git ¦ show -s --format=%H HEAD ¦ show HEAD^ ¦ show HEAD~1 ¦ diff ¦ diff HEAD ¦ diff --cached ¦ diff --staged
  + git ¦ diff --stat ¦ diff --word-diff ¦ diff a..b ¦ diff a...b ¦ shortlog -s -n ¦ blame x ¦ blame -L 1,5 x
  + git ¦ blame -w x ¦ blame -s -e x ¦ ls-files ¦ ls-files -c -d -m -o -s ¦ ls-files --exclude-standard ¦ rev-parse HEAD
  + git ¦ rev-parse --show-toplevel ¦ rev-parse --abbrev-ref HEAD ¦ rev-parse --short HEAD ¦ rev-parse --verify HEAD
  + git ¦ rev-parse --is-inside-work-tree ¦ branch ¦ branch -a ¦ branch -r ¦ branch -v ¦ branch -vv ¦ branch --list
  + git ¦ branch --list x ¦ branch --show-current ¦ tag ¦ tag -l ¦ tag --list ¦ tag -l v1 ¦ remote ¦ remote -v
  + git ¦ describe ¦ describe --tags ¦ describe --always ¦ describe --tags HEAD ¦ grep x ¦ grep -n x ¦ grep -i -l -w x
  + git ¦ grep -E x ¦ grep -F -c x ¦ grep -e x ¦ ls-tree HEAD ¦ ls-tree -r HEAD ¦ cat-file -t HEAD ¦ cat-file -p HEAD
  + git ¦ cat-file -s HEAD
  - git ¦  ¦ -h ¦ --version ¦ -C . status ¦ -c a=b status ¦ --no-pager log ¦ -p log ¦ --git-dir=x status
  - git ¦ --work-tree=x status ¦ --exec-path=x status ¦ --bare status ¦ --namespace=x log ¦ status -x
  - git ¦ status --porcelai ¦ status --ignore ¦ status --column ¦ status --find-renames ¦ log --output=x
  - git ¦ log --ext-diff ¦ log --textconv ¦ log -G x ¦ log -S x ¦ log -c ¦ log --show-signature ¦ log --exec=x
  - git ¦ log -L 1,2:x ¦ log --stdin ¦ log --since ¦ log --onelin ¦ log --no-walk ¦ log --remotes ¦ diff --no-index a b
  - git ¦ diff --output=x ¦ diff -R ¦ diff -O x ¦ diff ../x ¦ diff /etc/passwd x ¦ diff ~/x y ¦ diff --ext-diff
  - git ¦ diff .env ¦ show HEAD:.env ¦ show HEAD:a/../../x ¦ show HEAD:a/.ssh/id ¦ show :0:.env ¦ show ext::x ¦ show /x
  - git ¦ show ../x ¦ show -- .env ¦ log -- .env ¦ log -- ../x ¦ log -- x.pem ¦ blame .env ¦ blame ../x
  - git ¦ blame /etc/passwd ¦ blame --contents=x y ¦ blame -S x y ¦ ls-files ../x ¦ ls-files -z ¦ ls-files -X x
  - git ¦ ls-files --exclude-from=x ¦ rev-parse --local-env-vars ¦ rev-parse --parseopt ¦ branch x ¦ branch -D x
  - git ¦ branch -d x ¦ branch -m x ¦ branch -f x ¦ branch -u x ¦ branch --edit-description ¦ branch -a x ¦ branch -v x
  - git ¦ branch --show-current x ¦ tag v1 ¦ tag -d x ¦ tag -a x ¦ tag -s x ¦ tag -f x ¦ remote x ¦ remote add a b
  - git ¦ remote -v update ¦ remote show x ¦ remote update ¦ describe --contains ¦ grep -O x ¦ grep -Ox y
  - git ¦ grep --open-files-in-pager x ¦ grep -f x ¦ grep --no-index x ¦ grep --untracked x ¦ grep --ext-grep x
  - git ¦ ls-tree --full-tree HEAD ¦ cat-file --textconv HEAD:x ¦ cat-file --filters HEAD:x ¦ cat-file --batch
  - git ¦ commit -m x ¦ push ¦ pull ¦ fetch ¦ clone x ¦ checkout x ¦ switch x ¦ reset ¦ clean -fd ¦ add x ¦ stash
  - git ¦ config --list ¦ config x y ¦ archive HEAD ¦ bisect start ¦ submodule foreach x ¦ difftool ¦ mergetool
  - git ¦ rebase x ¦ reflog ¦ worktree list ¦ notes ¦ for-each-ref ¦ rev-list HEAD ¦ help ¦ gc ¦ fsck ¦ apply x ¦ am x
  - git ¦ format-patch x ¦ bundle x ¦ daemon ¦ upload-pack . ¦ Status ¦ status;
  + go ¦ version ¦ env ¦ env GOPATH ¦ list ¦ list ./... ¦ list -m -json all ¦ list -deps x ¦ doc fmt
  + go ¦ doc -all -short -u fmt ¦ build ¦ build ./... ¦ build -v -race ./x ¦ build -tags a ./x ¦ build -tags=a ./x
  + go ¦ vet ./... ¦ test ./... ¦ test -short -v -race ./... ¦ test -run X ./... ¦ test -run=X ./...
  + go ¦ test --run=X ./... ¦ test -count=1 ./... ¦ test -timeout 5s ./... ¦ test -cover ¦ test -bench . ./x
  + go ¦ test -benchmem ¦ test -failfast ¦ test -json ¦ test -list . ¦ test -parallel 2 ¦ test -shuffle on
  + go ¦ test -tags x ./...
  - go ¦  ¦ env -w X=y ¦ env -u X ¦ run x ¦ generate ¦ get x ¦ install x ¦ mod tidy ¦ build -o x ¦ build -toolexec=x
  - go ¦ build -ldflags=x ¦ build -C x ¦ vet -vettool=x ¦ vet -x ¦ test -exec x ¦ test -exec=x ¦ test -c ¦ test -o x
  - go ¦ test -coverprofile=x ¦ test -cpuprofile x ¦ test -toolexec x ¦ build /etc ¦ build ../x ¦ list a/../../x
  - go ¦ build .. ¦ doc -cmd x ¦ list -toolexec=x ¦ list -export ¦ tool x ¦ fmt ¦ work ¦ test -outputdir x
  - go ¦ version -m x ¦ build -mod=mod ¦ build -overlay x
  + gofmt ¦ -l . ¦ -d -s x ¦ -e x
  - gofmt ¦ -w x ¦ -l -w . ¦ -r x y ¦ -cpuprofile x ¦ /etc
  + npm ¦ test ¦ test --silent ¦ ls ¦ ls -a ¦ ls --depth 1 ¦ ls --depth=0 --json ¦ ls react ¦ --version
  - npm ¦  ¦ t ¦ install ¦ run x ¦ exec x ¦ x ¦ test x ¦ test --prefix x ¦ test --script-shell=x ¦ ls --prefix x
  - npm ¦ --version x ¦ ls -g ¦ publish ¦ --prefix x test ¦ --silent test ¦ list ¦ config list ¦ test --ignore-scripts
  + tsc ¦ --noEmit ¦ --noEmit --pretty --strict ¦ --noEmit src/a.ts
  - tsc ¦  ¦ --noEmit --watch ¦ --noEmit -w ¦ --noEmit --outDir x ¦ -p x ¦ --noEmit -p x ¦ --strict ¦ --build
  - tsc ¦ --noEmit /etc/x
  + eslint ¦ . ¦ --quiet src ¦ --max-warnings 0 . ¦ --max-warnings=0 . ¦ --ext .ts . ¦ --no-color .
  - eslint ¦ --fix . ¦ -c x . ¦ --rulesdir x . ¦ -f x . ¦ --plugin x . ¦ --resolve-plugins-relative-to x . ¦ -o x .
  - eslint ¦ --cache . ¦ .. ¦ --init ¦ --quie .
  + jest ¦  ¦ --ci --silent --verbose ¦ -t x ¦ --testNamePattern x ¦ --testNamePattern=x ¦ --runInBand ¦ -i ¦ src
  - jest ¦ --watch ¦ -u ¦ --config x ¦ --coverage ¦ --globalSetup x ¦ --rootDir / ¦ --reporters x ¦ -c x ¦ -w 2
  + pytest ¦  ¦ -q -v -x -s ¦ -k x ¦ -m x ¦ -l --lf --ff ¦ --tb=short ¦ --tb short ¦ --maxfail=1 ¦ -rA ¦ --no-header
  + pytest ¦ tests ¦ -qx ¦ tests/a.py
  - pytest ¦ -p x ¦ --pyargs x ¦ -c x ¦ --rootdir=/ ¦ --basetemp=x ¦ -o x=y ¦ --junitxml=x ¦ --cov ¦ /etc ¦ ../x ¦ -rx
  - pytest ¦ --confcutdir=x ¦ -W x
  + ruff ¦ check . ¦ check ¦ check -q . ¦ check --no-cache --statistics . ¦ check --output-format json .
  + ruff ¦ check --output-format=json .
  - ruff ¦ check --fix . ¦ check --config x . ¦ check -o x . ¦ check --output-file=x ¦ format . ¦ clean ¦  ¦ check /etc
  - ruff ¦ check --watch ¦ rule E1
  + mypy ¦ . ¦ --strict src ¦ --no-color-output --pretty x.py ¦ --show-error-codes --ignore-missing-imports x.py
  - mypy ¦ --config-file x ¦ --python-executable x y ¦ --install-types ¦ -c x ¦ -m x ¦ -p x ¦ --junit-xml x
  - mypy ¦ --cache-dir x ¦ --html-report x ¦ .. ¦ --plugin x
  + pip ¦ list ¦ list --outdated ¦ list --format json ¦ list --format=json ¦ show x ¦ show -f x
  - pip ¦ install x ¦  ¦ list --python x ¦ list --index-url x ¦ freeze ¦ --version ¦ download x ¦ config list
  - pip ¦ list --path / ¦ show --verbose x
  + curl ¦ https://example.com ¦ -s https://example.com ¦ -sSf http://example.com/x ¦ -I https://example.com
  + curl ¦ --head https://example.com ¦ -m 5 https://example.com ¦ --max-time 5 https://example.com
  + curl ¦ -m5 https://example.com ¦ http://[2001:db8::1]/
  - curl ¦ example.com ¦ -o x https://example.com ¦ -O https://example.com ¦ -d x https://example.com
  - curl ¦ -T x https://example.com ¦ -K x ¦ -L https://example.com ¦ file:///etc/passwd ¦ ftp://x/y
  - curl ¦ -x p https://example.com ¦ --output x https://e.com ¦ -H x https://e.com ¦ -X POST https://e.com ¦ HTTPS
  - curl ¦ -u a:b https://e.com ¦ --proxy x https://e.com ¦ https://e.com example.org ¦ gopher://x
  - curl ¦ -F a=@b https://e.com ¦ --upload-file x https://e.com ¦ -k https://e.com ¦ -b x https://e.com
  - curl ¦ -c x https://e.com ¦ --next ¦ -sSfo x https://e.com ¦ http://{a,b}.com ¦ 'http://[1-3].com'
  - curl ¦ 'http://{a,b}.com'
  + jq ¦ . x ¦ -r . x ¦ -c -e .a x ¦ -n 1 ¦ -s . x ¦ -rc . x ¦ '.a|.b' x
  - jq ¦ -f x y ¦ --arg a b . x ¦ --slurpfile a /etc/x . y ¦ --rawfile a x . y ¦ -L x . y ¦ . /etc/passwd ¦ --args x
  - jq ¦ . .env ¦ --from-file x y ¦ -R . x
  + tree ¦  ¦ src ¦ -L 2 ¦ -L2 src ¦ -a -d
  - tree ¦ -o x ¦ / ¦ -R ¦ --fromfile x ¦ -l ¦ -H x ¦ ..
  + du ¦  ¦ -sh ¦ -h -s src ¦ -d 1 ¦ -d1 . ¦ -a
  - du ¦ -L ¦ -X x ¦ --files0-from=x ¦ / ¦ .. ¦ --max-depth=1
  + df ¦  ¦ -h ¦ -h .
  - df ¦ -a ¦ --output ¦ --total ¦ /etc ¦ -i
  + mytool ¦ -z /etc/passwd ¦ --x=../.. ¦ .env ¦ >/dev/null
  - mytool ¦ $X
`;

const never = 'man less more vi vim nano emacs ed awk gawk mawk tee dd xxd install make'.split(' ');

type Row = readonly [verdict: string, program: string, words: string];

const rows: readonly Row[] = table
  .trim()
  .split('\n')
  .flatMap((line) => {
    const [head = '', ...calls] = line.trim().split(' ¦ ');
    return calls.map((words): Row => [head.startsWith('+') ? 'allow' : 'approve', head.slice(2), words]);
  });

const listing = (program: string): Promise<LoadedPolicy> => {
  const when = [{ op: 'command_prefix_allowlist', value: program }];
  return load({ rules: [{ tools: 'local_shell', action: 'allow', when }] });
};

describe('the shipped option tables', () => {
  it.each(rows)('%s: %s %s', async (verdict, program, words) => {
    const policy = await listing(program);
    const args = { command: `${program} ${words}`.trim() };
    const facts = { ...plainHost, programs: [program] };
    const { action, detail } = judge(policy, { tools: 'local_shell', tool: 'local_shell', args }, facts);
    expect([action, detail]).toEqual([verdict, expect.any(String)]);
  });

  it.each(never)('never grant %s', async (program) => {
    for (const command of [program, `${program} x`]) {
      const facts = { ...plainHost, programs: [program] };
      const record = judge(
        await listing(program),
        { tools: 'local_shell', tool: 'local_shell', args: { command } },
        facts,
      );
      expect(record.action).toBe('approve');
    }
  });
});
