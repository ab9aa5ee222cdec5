/** Commands that stand in the settings of a tool (YAML, TOML, INI): in one line, in lists, in texts of several lines. */

/** Most settings of one file that are looked at. */
const maxSettings = 256;

/**
 * What stands behind the keys that look like this, also inside of one another: as one line, since a list may hold the words
 * of a command, and each line or part of it by itself. Linear in the text.
 */
export function settingLines(keys: string): (text: string) => readonly string[] {
  // What belongs to a key stands further in than it, or begins with the mark of a list.
  const setting = new RegExp(
    `^([ \\t]*)(?:-[ \\t]+)?["']?(?:${keys})["']?[ \\t]*[:=][ \\t]*(?=(.*(?:\\n\\1(?:[ \\t-].*|\\])|\\n[ \\t]*(?=\\n))*))`,
    'gm',
  );
  return (text) => {
    const found: string[] = [];
    let left = maxSettings;
    for (const [, , value = ''] of text.matchAll(setting)) {
      found.push(...linesOf(value));
      left -= 1;
      if (left === 0) break;
    }
    return found;
  };
}

function linesOf(value: string): readonly string[] {
  const each = value
    .replace(/^[|>][-+\d]*(?=\s)/, '')
    .split('\n')
    .map((line) => plain(line.replace(/^[ \t]*(?:-[ \t]+)+/, '')))
    .filter((line) => line !== '');
  return [...new Set([each.join(' '), ...each])];
}

/** Without the marks of lists and texts, and the word by which a health check says what it is. */
const plain = (line: string): string =>
  line
    .replace(/["',[\]]+/g, ' ')
    .trim()
    .replace(/^CMD(?:-SHELL)?[ \t]/, '');
