// What a question costs (03): from its row to the card, from an answer to what goes on, and how listings grow. Times of
// rows are milliseconds of one clock, taken just before their commit, so every figure includes that commit.
import { spawnSync } from 'node:child_process';
import { makeTemplate } from '../support/project-template.ts';
import { createFigures, median } from './figures.ts';
import { benchAnswers, benchCards, benchResume } from './answers.ts';
import { benchCheckpoint } from './checkpoint.ts';
import { benchListing } from './many-asks.ts';

const removeTemplate = makeTemplate();
const figures = createFigures();
const runs = Number(process.argv[2] ?? 9);
// First, because it tells how much of the goals the machine leaves at this moment.
figures.time('`node -e 0`, for comparison, median', median(Array.from({ length: runs }, bareNode)), null);
await benchCards(figures, runs);
await benchAnswers(figures, runs);
await benchResume(figures, runs);
await benchCheckpoint(figures);
await benchListing(figures, runs);
figures.print();
removeTemplate();

function bareNode(): number {
  const from = performance.now();
  spawnSync(process.execPath, ['-e', '0']);
  return performance.now() - from;
}
