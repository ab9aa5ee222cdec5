import { describe, expect, it } from 'vitest';
import { childEnvironment } from '../../src/tools/environment.ts';

const parent = {
  PATH: '/usr/bin::bin:./x:/bin:',
  HOME: '/home/u',
  LANG: 'C',
  LC_ALL: 'C',
  TERM: 'xterm',
  SHELL: '/bin/sh',
  OPENAI_API_KEY: 'sk-secret',
  REINS_BEAM_TOKEN: 'secret',
  REINS_RUN_ID: 'run_outer',
  LD_PRELOAD: '/tmp/x.so',
  DYLD_INSERT_LIBRARIES: '/tmp/x.dylib',
  BASH_ENV: '/tmp/x',
  NODE_OPTIONS: '--require /tmp/x',
  GIT_SSH_COMMAND: '/tmp/x',
  GIT_DIR: '/tmp/x',
  GIT_AUTHOR_NAME: 'A',
  MY_ONE: '1',
  MY_TWO: '2',
  OTHER: '3',
  'BASH_FUNC_ls%%': '() { :; }',
};

describe('childEnvironment', () => {
  it('passes the listed names, cleans PATH and adds the marker', () => {
    expect(childEnvironment({ parent, allow: [], marker: 'run_1', term: 'dumb' })).toEqual({
      PATH: '/usr/bin:/bin',
      HOME: '/home/u',
      LANG: 'C',
      LC_ALL: 'C',
      TERM: 'dumb',
      SHELL: '/bin/sh',
      REINS_RUN_ID: 'run_1',
    });
  });

  it('adds names and prefixes of shell-env, but never what loads code or is ours', () => {
    const allow = ['MY_*', 'OTHER', '*', ...Object.keys(parent)];
    const names = Object.keys(childEnvironment({ parent, allow, marker: 'run_1' })).sort();
    expect(names).toEqual([
      'GIT_AUTHOR_NAME',
      'HOME',
      'LANG',
      'LC_ALL',
      'MY_ONE',
      'MY_TWO',
      'OPENAI_API_KEY',
      'OTHER',
      'PATH',
      'REINS_RUN_ID',
      'SHELL',
      'TERM',
    ]);
  });

  it('holds what a tool server declares to the same rules', () => {
    const declared = { API: 'x', LD_PRELOAD: '/tmp/x.so', REINS_HOME: '/tmp' };
    expect(childEnvironment({ parent: {}, allow: [], declared, marker: 'mcp:x' })).toEqual({
      API: 'x',
      REINS_RUN_ID: 'mcp:x',
    });
  });

  it('leaves unset names unset', () => {
    expect(childEnvironment({ parent: { HOME: undefined }, allow: [], marker: 'r' })).toEqual({ REINS_RUN_ID: 'r' });
  });
});
