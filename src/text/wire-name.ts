/**
 * The name of a tool as model services take it, before it is cut to their length (05 §1.2): signs that they refuse become
 * `_`, and a name that does not begin with a letter gets one.
 */
export function wireName(name: string): string {
  // A model that leaves the name out is told so; no service takes the name of such a call back as it was.
  if (name === '') return 'unnamed';
  const plain = name.replace(/[^A-Za-z0-9_-]/gu, '_');
  return /^[0-9-]/.test(plain) ? `t_${plain}` : plain;
}
