type Known = { readonly context: number | null; readonly max_output: number | null };

/** Context and output ceiling of services that do not report them; the first line that matches holds (08 §4). */
const table: Readonly<Record<'openai' | 'anthropic', readonly (readonly [RegExp, number, number])[]>> = {
  openai: [
    [/^gpt-5(\.\d+)?-chat/, 128_000, 16_384],
    [/^gpt-5/, 400_000, 128_000],
    [/^gpt-6/, 1_050_000, 128_000],
    [/^gpt-4\.1/, 1_047_576, 32_768],
    [/^(gpt-4o|chatgpt-4o)/, 128_000, 16_384],
    [/^gpt-4-(turbo|\d{4}-preview)/, 128_000, 4096],
    [/^gpt-4(-\d{4})?$/, 8192, 8192],
    [/^gpt-3\.5-turbo/, 16_385, 4096],
    [/^o1-mini/, 128_000, 65_536],
    [/^o1-preview/, 128_000, 32_768],
    [/^(o\d|codex-mini)/, 200_000, 100_000],
  ],
  anthropic: [
    [/^claude-(2|instant)/, 100_000, 4096],
    [/^claude-3-(opus|sonnet|haiku)/, 200_000, 4096],
    [/^claude-3-5/, 200_000, 8192],
    [/^claude-opus-4-(0|1|\d{8})/, 200_000, 32_000],
    [/^claude-(3-7|opus-4|sonnet-4|haiku-4)/, 200_000, 64_000],
  ],
};

/** What is known of a model by its name alone; null members = unknown. */
export function knownModel(type: 'openai' | 'anthropic', name: string): Known {
  const found = table[type].find(([pattern]) => pattern.test(name));
  if (found !== undefined) return { context: found[1], max_output: found[2] };
  return { context: type === 'anthropic' && name.startsWith('claude-') ? 200_000 : null, max_output: null };
}
