/**
 * The name of a tool as model services take it, before it is cut to their length (05 §1.2): signs that they refuse become
 * `_`, and a name that does not begin with a letter gets one.
 */
export function wireName(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9_-]/gu, '_');
  return /^[0-9-]/.test(plain) ? `t_${plain}` : plain;
}
