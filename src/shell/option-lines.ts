import type { CommandWord } from '../schema/command.ts';
import { cut } from './option-values.ts';

/** How a line stands in the value of an option, where that holds more than the line, or need not hold one. */

/** The line that a value holds; none for a setting that starts nothing. */
export type LineIn = (value: CommandWord) => readonly CommandWord[];

export const whole: LineIn = (value) => [value];

/** What stands behind a beginning that the value must have. */
export const behindText =
  (pattern: RegExp): LineIn =>
  (value) => {
    const found = pattern.exec(value.text)?.[0];
    return found === undefined ? [] : [cut(value, found.length)];
  };

/** As `ssh` is given settings; where a value is none, it may be a line. */
export const sshSetting =
  (program: boolean): LineIn =>
  (value) => [...sshCommand(value), ...(program ? [value] : [])];

const sshCommand = behindText(/^\s*(?:(?:proxy|local|knownhosts|remote)command|xauthlocation)(?:\s*=\s*|\s+)/i);

export const tarLine: LineIn = (value) =>
  /^(?:dot|echo|bell|sleep|ttyout|totals|wait)\b/.test(value.text) ? [] : behindText(/^(?:exec=)?/)(value);

export const aptSetting: LineIn = (value) =>
  /invoke|cmd|command|method|pager|proxy-auto-detect/i.test(value.text) ? behindText(/^[^=]*=/)(value) : [];

export const fzfAction: LineIn = (value) =>
  /^[\w-]+:/.test(value.text)
    ? behindText(/^[\w,-]+:(?:execute|execute-silent|become|reload|preview|transform)[(:]/)(value).map(unclosed)
    : [value];

/** Without the parenthesis that closes an action, where nothing in the line has opened it. */
const unclosed = (line: CommandWord): CommandWord =>
  line.text.includes('(') ? line : { ...line, text: line.text.replace(/\)$/, '') };

/** `-vettool=x`; among flags of the linker that which names another one. */
export const goLine: LineIn = (value) =>
  /^=?['"]?-/.test(value.text) ? behindText(/^.*?-extld[= ]['"]?/)(value) : behindText(/^=?/)(value);

/** A line, or `cmd="line"` among other words of a module. */
export const ansibleLine: LineIn = (value) => {
  const found = /(?:^|\s)(?:cmd|_raw_params)=(?:"([^"]*)"|'([^']*)'|(\S+))/.exec(value.text);
  return found === null ? [value] : [{ ...value, text: found[1] ?? found[2] ?? found[3] ?? '' }];
};

/** A program and its words, put together by commas. */
export const commaLine: LineIn = (value) => [{ ...value, text: value.text.replaceAll(',', ' ') }];

/** `--config key="program"` of Cargo: what it starts in place of the compiler, or to run what was built. */
export const cargoSetting: LineIn = (setting) => {
  const found = /(?:rustc|rustdoc|wrapper|runner|linker|provider)["']?\s*=\s*\[?\s*/.exec(setting.text);
  if (found === null) return [];
  return [{ ...setting, text: setting.text.slice(found.index + found[0].length).replace(/["',\]]+/g, ' ') }];
};

/** `--config section.name=value` of Mercurial: an alias with `!`, a hook, a tool; anything else is a program. */
export const hgSetting: LineIn = (setting) => {
  if (!/^[\w.-]+=/.test(setting.text)) return [setting];
  const [, key = '', mark = ''] = /^([\w.-]+)=(!?)/.exec(setting.text) ?? [];
  const value = cut(setting, key.length + 1 + mark.length);
  if (/^alias\./.test(key)) return mark === '' ? [{ ...value, text: `hg ${value.text}` }] : [value];
  return /^(?:hooks|extdiff|merge-tools|pager|ui\.(?:ssh|editor|merge)|diff-tools)\b/.test(key) ? [value] : [];
};
