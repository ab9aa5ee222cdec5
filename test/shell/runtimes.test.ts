import { describe, expect, it } from 'vitest';
import { verdict } from './denying.ts';

describe('a denied program in the options of a runtime', () => {
  it.each([
    `java -XX:OnError='evil x' -jar a.jar`,
    `java -XX:OnOutOfMemoryError="evil x" A`,
    `java '-XX:OnError=gdb - %p;evil x' A`,
    `javac -J-XX:OnError='evil x' A.java`,
    `mvn -q test -DargLine='-Xmx1g -XX:OnError="evil x"'`,
    `gradle -Dorg.gradle.jvmargs=-XX:OnOutOfMemoryError=evil build`,
    `JAVA_TOOL_OPTIONS="-XX:OnError='evil x'" java A`,
    `_JAVA_OPTIONS='-XX:OnOutOfMemoryError=evil' mvn test`,
    `export JDK_JAVA_OPTIONS='-Xmx1g "-XX:OnOutOfMemoryError=evil x"'; java A`,
    `env MAVEN_OPTS=-XX:OnError=evil mvn test`,
    `erl -noshell -eval 'os:cmd("evil x").' -s init stop`,
    `erl -run os cmd 'evil x'`,
    `ERL_AFLAGS='-eval os:cmd("evil\\ x")' erl`,
    `ERL_FLAGS="-s os cmd 'evil x'" iex`,
    `ERL_ZFLAGS='-eval os:cmd("evil").' rebar3 shell`,
    `ELIXIR_ERL_OPTIONS='-run os cmd evil' mix run`,
    'GOFLAGS=-exec=evil go test',
    `GOFLAGS='-v -toolexec=evil' go build`,
    `RUSTFLAGS='-C linker=evil' cargo build`,
    'rustc -Clinker=evil a.rs',
    'cargo rustc -- -C linker=evil',
    // Variables that are read as words of a program.
    `RUBYOPT='-W0 -e system("evil")' ruby a`,
    `env MFLAGS='--eval=x:;evil' make`,
    "VIMINIT='!evil x' vim f",
    `VIMINIT='call system("evil x")' vim f`,
    `MORE='+!evil' more f`,
    `FZF_DEFAULT_OPTS="--preview 'evil {}'" fzf`,
    "FZF_DEFAULT_OPTS='--bind=start:execute(evil)' fzf",
    "PSQL_EDITOR='evil x' psql",
  ])('is found: %s', (line) => {
    expect(verdict(line)).toBe('deny');
  });

  it.each([
    'java -XX:+HeapDumpOnOutOfMemoryError -XX:HeapDumpPath=evil A',
    'java -XX:OnOutOfMemoryError="kill -9 %p" A evil',
    'java -Dcmd="evil x" -jar evil.jar',
    'JAVA_TOOL_OPTIONS="-Xmx1g -Duser.name=evil" java A',
    'echo "-XX:OnError=evil x" > jvm.options',
    'grep -rn -e -XX:OnError=evil src',
    'git commit -m "set -XX:OnError=evil"',
    'ERL_FLAGS="+P 100 -name evil" erl',
    `erl -eval 'io:format("evil~n").' -s init stop`,
    'GOFLAGS="-count=1 -tags=evil" go test',
    'RUSTFLAGS="-C target-cpu=evil -D warnings" cargo build',
    'cargo -C evil build',
    'RUBYOPT=-W0 ruby evil.rb',
    'MFLAGS=-j8 make evil',
    "VIMINIT='set number' vim evil",
    'MORE=-R more evil',
    "FZF_DEFAULT_OPTS='--height 40% --prompt evil' fzf",
    'PSQL_EDITOR=vim psql evil',
  ])('is not seen where nothing starts it: %s', (line) => {
    expect(verdict(line)).toBe('allow');
  });
});
