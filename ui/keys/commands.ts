/** Places that keys are looked up in, innermost first (10 §12.5). */
export type KeyContext =
  | 'field'
  | 'completion'
  | `overlay.${'any' | 'palette' | 'sessions' | 'models' | 'help' | 'grants' | 'runs' | 'view' | 'run' | 'rule' | 'edit' | 'question' | 'history' | 'plans' | 'why'}`
  | `card.${'permission' | 'question' | 'unknown' | 'trust' | 'definition' | 'full'}`
  | 'card'
  | 'reading'
  | 'composer'
  | 'plan'
  | 'approvals'
  | 'global';

export type KeyCommand = {
  readonly id: string;
  readonly context: KeyContext;
  /** As `readKey` reads them; a blank parts the two keys of a chord. */
  readonly keys: readonly string[];
  readonly help: string;
  /** Its word in the hint line. */
  readonly hint: string;
  /** May not be remapped. */
  readonly fixed: boolean;
  /** Commands of outer contexts whose keys this one takes on purpose while it is at hand. */
  readonly hides: readonly string[];
};

type Options = Partial<Pick<KeyCommand, 'hint' | 'fixed' | 'hides'>>;
type Row = readonly [id: string, keys: string, help: string, options?: Options];

const rows = (context: KeyContext, list: readonly Row[]): readonly KeyCommand[] =>
  list.map(([id, keys, help, options]) => ({
    id,
    context,
    // Keys are parted by two blanks, those of a chord by one.
    keys: keys === '' ? [] : keys.split('  '),
    help,
    hint: options?.hint ?? help,
    fixed: options?.fixed ?? false,
    hides: options?.hides ?? [],
  }));

/** Keys of a text that is edited, in the composer and in fields (10 §6.1). */
const editing = (place: 'composer' | 'field'): readonly Row[] => [
  [`${place}.left`, 'left  ctrl+b', 'one character left'],
  [`${place}.right`, 'right  ctrl+f', 'one character right'],
  [`${place}.word-left`, 'alt+b  ctrl+left  alt+left', 'one word left'],
  [`${place}.word-right`, 'alt+f  ctrl+right  alt+right', 'one word right'],
  [`${place}.line-start`, 'home  ctrl+a', 'start of the line'],
  [`${place}.line-end`, 'end  ctrl+e', 'end of the line'],
  [`${place}.backspace`, 'backspace  shift+backspace', 'delete backwards'],
  [`${place}.delete`, 'delete', 'delete forwards'],
  [`${place}.delete-word-left`, 'ctrl+w  alt+backspace', 'delete the word before'],
  [`${place}.delete-word-right`, 'alt+d', 'delete the word behind'],
  [`${place}.delete-to-start`, 'ctrl+u', 'delete to the start of the line'],
  [`${place}.delete-to-end`, 'ctrl+k', 'delete to the end of the line'],
  [`${place}.yank`, 'ctrl+y', 'insert what was deleted'],
  [`${place}.undo`, 'ctrl+_', 'undo'],
];

const leave: Options = { hint: 'close', fixed: true, hides: ['app.interrupt'] };

/** The one table: what every key does, where, and under which words (10 §12.5). Help and hints are made of it. */
export const keyCommands: readonly KeyCommand[] = [
  ...rows('global', [
    ['app.help', 'f1', 'this help', { hint: 'help' }],
    ['app.next-pane', 'tab', 'next pane', { hint: 'panes' }],
    ['app.previous-pane', 'shift+tab', 'previous pane'],
    ['app.next-ask', 'ctrl+n', 'next open ask', { hint: 'next ask' }],
    ['app.palette', 'ctrl+p', 'command palette', { hint: 'commands' }],
    ['app.read', 'ctrl+o', 'read the transcript', { hint: 'read' }],
    ['app.chat', 'f2  alt+1', 'chat pane'],
    ['app.plan', 'f3  alt+2  ctrl+t', 'plan pane'],
    ['app.approvals', 'f4  alt+3', 'approvals pane'],
    ['app.sessions', 'ctrl+x s', 'switch session'],
    ['app.models', 'ctrl+x m', 'choose a model'],
    ['app.run-details', 'ctrl+x r', 'details of the run'],
    ['app.dismiss-banner', 'ctrl+x b', 'dismiss the banner'],
    ['app.repaint', 'ctrl+l', 'paint the screen again'],
    ['app.quit', 'ctrl+x ctrl+c', 'quit'],
    ['app.suspend', 'ctrl+z', 'suspend this program', { fixed: true }],
    ['app.interrupt', 'ctrl+c  escape', 'close, interrupt', { fixed: true }],
    ['app.end-of-input', 'ctrl+d', 'delete a character; twice when empty: quit', { fixed: true }],
    ['app.abort', 'ctrl+\\', 'leave at once', { fixed: true }],
  ]),
  ...rows('composer', [
    ['composer.send', 'enter', 'send, or queue while busy', { hint: 'send' }],
    ['composer.newline', 'ctrl+j  shift+enter  alt+enter', 'new line'],
    ['composer.editor', 'ctrl+g  ctrl+x ctrl+e', 'external editor'],
    ['composer.history-search', 'ctrl+r', 'search history'],
    ['composer.expand-paste', 'ctrl+x p', 'open the paste at the cursor'],
    ['composer.resend', 'ctrl+x u', 'send the last message again'],
    ['composer.up', 'up', 'line up; on the first line: history'],
    ['composer.down', 'down', 'line down; on the last line: history'],
    ...editing('composer'),
    ['transcript.page-up', 'pageup', 'page up'],
    ['transcript.page-down', 'pagedown', 'page down'],
    ['transcript.top', 'ctrl+home', 'first line of the transcript'],
    ['transcript.bottom', 'ctrl+end', 'last line of the transcript'],
    ['transcript.line-up', 'shift+up', 'one line up'],
    ['transcript.line-down', 'shift+down', 'one line down'],
  ]),
  ...rows('completion', [
    ['completion.accept', 'tab', 'take what is chosen', { hint: 'take', hides: ['app.next-pane'] }],
    ['completion.run', 'enter', 'take it, and run it when it is whole', { hint: 'run', hides: ['composer.send'] }],
    ['completion.up', 'up  shift+tab', 'one up', { hint: 'choose', hides: ['composer.up', 'app.previous-pane'] }],
    ['completion.down', 'down', 'one down', { hides: ['composer.down'] }],
    ['completion.close', 'escape', 'close the list', leave],
  ]),
  ...rows('field', [
    ['field.accept', 'enter', 'take the text', { hint: 'done' }],
    ['field.newline', 'ctrl+j  shift+enter  alt+enter', 'new line, where the field has lines', { hint: 'new line' }],
    ['field.editor', 'ctrl+g', 'external editor, where the field has one'],
    ['field.up', 'up', 'line up, or the choice above'],
    ['field.down', 'down', 'line down, or the choice below'],
    ['field.close', 'escape', 'close the field', leave],
    ...editing('field'),
  ]),
  ...rows('card', [
    ['card.up', 'up', 'choice above'],
    ['card.down', 'down', 'choice below'],
    ['card.take', 'enter', 'take the chosen one'],
    ['card.full', 'v', 'view all'],
    ['card.page-up', 'pageup', 'scroll the card up'],
    ['card.page-down', 'pagedown', 'scroll the card down'],
    ['card.top', 'home', 'first line of the card'],
    ['card.bottom', 'end', 'last line of the card'],
    ['card.back', 'left', 'back to the list, in the approvals pane'],
    ['card.later', 'l', 'later: the ask stays open', { hint: 'later' }],
    ['card.leave', 'escape', 'later: the ask stays open', { hint: 'later', fixed: true, hides: ['app.interrupt'] }],
  ]),
  ...rows('card.permission', [
    ['card.once', 'y', 'allow once', { hint: 'once' }],
    ['card.session', 's', 'allow for this session', { hint: 'this session' }],
    ['card.edits', 'w', 'edits here, this session'],
    ['card.rule', 'r', 'add a rule'],
    ['card.edit', 'e', 'edit the arguments', { hint: 'edit' }],
    ['card.deny', 'n', 'deny'],
    ['card.deny-feedback', 'f', 'deny, say why'],
    ['card.explain', 'x', 'explain', { hint: 'explain' }],
  ]),
  ...rows('card.question', [
    ['card.answer', 'a', 'free answer'],
    ...Array.from(
      { length: 9 },
      (_, index): Row => [`card.choice-${index + 1}`, String(index + 1), `mark choice ${index + 1}`],
    ),
  ]),
  ...rows('card.unknown', [
    ['card.run-again', 'a', 'run again'],
    ['card.done', 'd', 'treat as done'],
    ['card.skip', 'k', 'skip'],
  ]),
  ...rows('card.trust', [
    ['card.trust', 'y', 'trust'],
    ['card.trust-once', 'o', 'use once'],
    ['card.refuse', 'n', 'refuse'],
  ]),
  ...rows('card.definition', [
    ['card.accept', 'y', 'accept the definition', { hint: 'accept' }],
    ['card.keep-out', 'n', 'keep the tool out', { hint: 'keep out' }],
  ]),
  ...rows('card.full', [
    ['card.line-up', 'up', 'one line up', { hint: 'line', hides: ['card.up'] }],
    ['card.line-down', 'down', 'one line down', { hides: ['card.down'] }],
    ['card.page', 'space', 'page down', { hint: 'page' }],
    ['card.find', '/', 'find in the call', { hint: 'find' }],
    ['card.next-flag', ']', 'next line with something hidden in it', { hint: 'next flag' }],
  ]),
  ...rows('reading', [
    ['reading.up', 'up  k', 'item above'],
    ['reading.down', 'down  j', 'item below'],
    ['reading.previous-message', '{', 'previous message of yours'],
    ['reading.next-message', '}', 'next message of yours'],
    ['reading.toggle', 'enter  space', 'open or close', { hint: 'open' }],
    ['reading.open-all', 'E', 'open all in view'],
    ['reading.close-all', 'C', 'close all'],
    ['reading.full', 'v', 'view all'],
    ['reading.explain', 'x', 'explain the decision'],
    ['reading.copy', 'c', 'copy the item'],
    ['reading.search', '/', 'search'],
    ['reading.next-hit', 'n', 'next hit'],
    ['reading.previous-hit', 'N', 'previous hit'],
    ['reading.fork', 'F', 'fork the session here'],
    ['reading.dump', '[', 'print to the scrollback'],
    ['reading.page-up', 'pageup', 'page up'],
    ['reading.page-down', 'pagedown', 'page down'],
    ['reading.top', 'home  ctrl+home', 'first line'],
    ['reading.bottom', 'end  ctrl+end', 'last line'],
    ['reading.leave', 'q  escape', 'back to the composer', { hint: 'back', fixed: true, hides: ['app.interrupt'] }],
  ]),
  ...rows('plan', [
    ['plan.up', 'up', 'step above'],
    ['plan.down', 'down', 'step below'],
    ['plan.first', 'home', 'first step'],
    ['plan.last', 'end', 'last step'],
    ['plan.next', 'n', 'next step', { hint: 'next' }],
    ['plan.auto', 'a', 'all pending steps, or stop after this one', { hint: 'auto' }],
    ['plan.retry', 'r', 'retry the step', { hint: 'retry' }],
    ['plan.skip', 's', 'skip the step', { hint: 'skip' }],
    ['plan.replan', 'R', 'replan'],
    ['plan.new', 'N', 'new plan'],
    ['plan.open', 'o', 'open another plan', { hint: 'switch' }],
    ['plan.explore', 'e', 'explore the workspace', { hint: 'explore' }],
    ['plan.delete', 'D', 'delete the plan'],
    ['plan.details', 'enter', 'details of the step', { hint: 'details' }],
    ['plan.full', 'v', 'view all'],
    ['plan.page-up', 'pageup', 'page up'],
    ['plan.page-down', 'pagedown', 'page down'],
    ['plan.top', 'ctrl+home', 'first line'],
    ['plan.bottom', 'ctrl+end', 'last line'],
    ['plan.pane-1', '1', 'chat pane'],
    ['plan.pane-2', '2', 'plan pane'],
    ['plan.pane-3', '3', 'approvals pane'],
  ]),
  ...rows('approvals', [
    ['approvals.up', 'up', 'ask above', { hint: 'move' }],
    ['approvals.down', 'down', 'ask below'],
    ['approvals.page-up', 'pageup', 'page up'],
    ['approvals.page-down', 'pagedown', 'page down'],
    ['approvals.top', 'home', 'first ask'],
    ['approvals.bottom', 'end', 'last ask'],
    ['approvals.open', 'enter  right', 'to the card', { hint: 'card' }],
    ['approvals.select', 'space', 'select', { hint: 'select' }],
    ['approvals.select-all', 'A', 'select all shown'],
    ['approvals.deny', 'n', 'deny what is selected', { hint: 'deny selected' }],
    ['approvals.group', 'g', 'group alike asks', { hint: 'group' }],
    ['approvals.history', 'h', 'answered asks', { hint: 'history' }],
    ['approvals.filter', '/', 'filter by text', { hint: 'filter' }],
    ['approvals.filter-tool', 't', 'filter by tool'],
    ['approvals.pane-1', '1', 'chat pane'],
    ['approvals.pane-2', '2', 'plan pane'],
    ['approvals.pane-3', '3', 'approvals pane'],
  ]),
  ...rows('overlay.any', [
    ['overlay.up', 'up', 'one up', { hint: 'choose' }],
    ['overlay.down', 'down', 'one down'],
    ['overlay.page-up', 'pageup', 'page up'],
    ['overlay.page-down', 'pagedown', 'page down'],
    ['overlay.top', 'home', 'first line'],
    ['overlay.bottom', 'end', 'last line'],
    ['overlay.accept', 'enter', 'take what is chosen', { hint: 'take' }],
    ['overlay.filter', '/', 'filter, or find in a text', { hint: 'filter' }],
    ['overlay.close', 'escape', 'close', leave],
  ]),
  ...rows('overlay.sessions', [
    ['sessions.new', 'N', 'new session', { hint: 'new' }],
    ['sessions.rename', 'R', 'rename', { hint: 'rename' }],
    ['sessions.fork', 'F', 'fork', { hint: 'fork' }],
    ['sessions.delete', 'D', 'delete', { hint: 'delete' }],
    ['sessions.export', 'E', 'export', { hint: 'export' }],
  ]),
  ...rows('overlay.models', [
    ['models.default', 'D', 'make it the default', { hint: 'make default' }],
    ['models.test', 'T', 'test the backend', { hint: 'test' }],
  ]),
  ...rows('overlay.runs', [
    ['runs.cancel', 'c', 'cancel the run', { hint: 'cancel' }],
    ['runs.resume', 'R', 'resume the run', { hint: 'resume' }],
  ]),
  ...rows('overlay.run', [
    ['run.cancel', 'c', 'cancel the run', { hint: 'cancel run' }],
    ['run.resume', 'R', 'resume the run', { hint: 'resume' }],
    ['run.export', 'e', 'export as JSON', { hint: 'export' }],
  ]),
  ...rows('overlay.view', [
    ['view.page', 'space', 'page down', { hint: 'page' }],
    ['view.next-flag', ']', 'next line with something hidden in it', { hint: 'next flag' }],
    ['view.next-hit', 'n', 'next hit of the search'],
    ['view.previous-hit', 'N', 'previous hit'],
    ['view.wrap', 'w', 'wrap on or off', { hint: 'wrap' }],
    ['view.copy', 'c', 'copy', { hint: 'copy' }],
  ]),
  ...rows('overlay.why', [['why.copy', 'c', 'copy', { hint: 'copy' }]]),
  ...rows('overlay.grants', [['grants.forget', 'delete', 'forget the choice', { hint: 'forget' }]]),
  ...rows('overlay.rule', [
    ['rule.matches', 'm', 'the matching calls', { hint: 'matching calls' }],
    ['rule.write', 'w', 'write the rule and allow', { hint: 'write and allow' }],
  ]),
  ...rows('overlay.question', [
    ['question.yes', 'y', 'yes', { fixed: true }],
    ['question.no', 'n', 'no', { fixed: true }],
  ]),
];

/** Context stacks that can be at hand together, innermost first; conflicts are looked for in each. */
export const contextStacks: readonly (readonly KeyContext[])[] = [
  ['composer', 'global'],
  ['completion', 'composer', 'global'],
  ['reading', 'global'],
  ['field', 'reading', 'global'],
  ['field', 'global'],
  ['plan', 'global'],
  ['card.trust', 'overlay.any', 'global'],
  ['card.definition', 'overlay.any', 'global'],
  ['field', 'plan', 'global'],
  ['approvals', 'global'],
  ['field', 'approvals', 'global'],
  ...(['permission', 'question', 'unknown', 'trust'] as const).flatMap((kind): readonly (readonly KeyContext[])[] => [
    [`card.${kind}`, 'card', 'global'],
    ['card.full', `card.${kind}`, 'card', 'global'],
    ['field', `card.${kind}`, 'card', 'global'],
  ]),
  ...(
    [
      'palette',
      'sessions',
      'models',
      'help',
      'grants',
      'runs',
      'view',
      'run',
      'rule',
      'edit',
      'question',
      'history',
      'plans',
      'why',
    ] as const
  ).flatMap((name): readonly (readonly KeyContext[])[] => [
    [`overlay.${name}`, 'overlay.any', 'global'],
    ['field', `overlay.${name}`, 'overlay.any', 'global'],
  ]),
];

/** Contexts in which a printable character is text. */
export const textContexts: ReadonlySet<KeyContext> = new Set(['field', 'composer', 'completion']);

/** Approving takes a character of its own, never one that somebody presses in passing. */
export const deliberate: ReadonlySet<string> = new Set([
  'card.once',
  'card.session',
  'card.edits',
  'card.rule',
  'card.run-again',
  'card.trust',
  'card.trust-once',
  'card.accept',
  'plan.auto',
]);
/** These deny: what somebody presses to deny on one card may not approve on another. */
export const refusing: ReadonlySet<string> = new Set([
  'card.deny',
  'card.deny-feedback',
  'card.skip',
  'card.refuse',
  'card.keep-out',
]);
