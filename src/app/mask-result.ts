import type { Secrets } from '../registry/secrets.ts';
import type { ToolResult } from '../tools/tool.ts';

/** Hides known secrets in a result before the model gets it, and says how many there were (11 §5.3.4). */
export const maskResultWith =
  (secrets: Pick<Secrets, 'maskKnown'>) =>
  (result: ToolResult): ToolResult => {
    let count = 0;
    const mask = (value: unknown): unknown => {
      if (typeof value === 'string') {
        const masked = secrets.maskKnown(value);
        count += masked.count;
        return masked.text;
      }
      if (Array.isArray(value)) return value.map(mask);
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(Object.entries(value).map(([key, member]) => [mask(key), mask(member)]));
    };
    if (!result.ok) {
      const message = mask(result.message);
      const extra = mask(result.extra);
      // Only strings were replaced: the shapes are the ones that came in.
      return count === 0 ? result : ({ ...result, message, extra } as ToolResult);
    }
    const value = mask(result.value);
    if (count === 0) return result;
    const note = `[${count} known secret${count === 1 ? '' : 's'} masked]`;
    if (typeof value === 'string') return { ...result, value: `${value}\n${note}` };
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return { ...result, value };
    return { ...result, value: { ...value, known_secrets_masked: count } };
  };
