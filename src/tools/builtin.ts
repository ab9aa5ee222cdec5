import { createAskHumanTool } from './ask-human.ts';
import { createGrepTool } from './files/grep.ts';
import { createReadTools } from './files/read.ts';
import { createSearchTools } from './files/search.ts';
import { createStatTools } from './files/stat.ts';
import { createWriteTools } from './files/write.ts';
import { createShellTool } from './local-shell.ts';
import { createSayTools } from './say.ts';
import type { ReadMarks, Tool } from './tool.ts';
import { createWebTools, type WebDeps } from './web.ts';

export type BuiltinDeps = {
  /** `--shell`: without it `local_shell` does not exist (05 §1.1). */
  readonly shell: boolean;
  /** Config `shell-timeout`, in seconds. */
  readonly shellTimeoutS: number;
  /** The marks that are also in the ports of a call. */
  readonly marks: Pick<ReadMarks, 'get'>;
  readonly web: WebDeps;
};

/** All built-in tools of a process. */
export function createBuiltinTools(deps: BuiltinDeps): readonly Tool[] {
  return [
    ...createReadTools(),
    ...createSearchTools(),
    createGrepTool(),
    ...createStatTools(),
    ...createWriteTools(deps),
    ...(deps.shell ? [createShellTool({ timeoutS: deps.shellTimeoutS })] : []),
    ...createWebTools(deps.web),
    ...createSayTools(),
    createAskHumanTool(),
  ];
}
