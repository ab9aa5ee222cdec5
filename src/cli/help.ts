/** Text of `reins --help`. */
export function renderRootHelp(): string {
  return 'reins\n';
}
