import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { cliEnvironment, program } from './run-cli.ts';
import type { TempHome } from './temp-home.ts';
import { template, templateVariable } from './template-place.ts';

const databaseOf = (dir: string): string => join(dir, 'ws/.reins/local.db');

/**
 * A workspace that `reins init scripted` has set up, made once for all tests: hundreds of them begin with one, and a copy
 * costs a twentieth of the two programs. What the commands themselves do is tested with the commands.
 * @returns what removes it
 */
export function makeTemplate(): () => void {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'reins-template-')));
  const reins = (name: string, ...argv: readonly string[]): void => {
    const place = { home: join(dir, name, 'home'), workspace: join(dir, name, 'ws') };
    for (const path of Object.values(place)) mkdirSync(path, { recursive: true, mode: 0o700 });
    const env = { ...cliEnvironment(place) };
    const { status, stderr } = spawnSync(process.execPath, [program, ...argv], { cwd: place.workspace, env });
    if (status !== 0) throw new Error(`the template of test projects: ${argv.join(' ')}: ${stderr}`);
  };
  reins('project', 'init', 'scripted');
  cpSync(join(dir, 'project'), join(dir, 'with-script'), { recursive: true });
  writeFileSync(join(dir, 'script.json'), '{"script":1,"models":[{"name":"m"}],"turns":[]}');
  reins('with-script', 'backend', 'add', 'script', '--type', 'scripted', '--url', join(dir, 'script.json'));
  process.env[templateVariable] = dir;
  return () => rmSync(dir, { recursive: true, force: true });
}

/** Makes an empty place a project, as `reins init scripted` does there. */
export function copyProject({ dir }: TempHome): void {
  const from = join(template(), 'project');
  cpSync(from, dir, { recursive: true });
  // Heads that were noted of the template are of another database.
  rmSync(join(dir, 'home/.reins/audit-anchors'), { force: true });
  const trust = join(dir, 'home/.reins/trust.json');
  writeFileSync(trust, readFileSync(trust, 'utf8').replaceAll(from, dir), { mode: 0o600 });
}

/** Registers the scripted backend `script` in a project, as `reins backend add` does. @returns false where there is no project */
export function addScriptedBackend({ dir }: TempHome, url: string): boolean {
  if (!existsSync(databaseOf(dir))) return false;
  const database = new Database(databaseOf(dir));
  try {
    database.prepare('ATTACH ? AS template').run(databaseOf(join(template(), 'with-script')));
    database.exec("INSERT INTO backends SELECT * FROM template.backends WHERE name = 'script'");
    database.prepare("UPDATE backends SET base_url = ? WHERE name = 'script'").run(url);
  } finally {
    database.close();
  }
  return true;
}
