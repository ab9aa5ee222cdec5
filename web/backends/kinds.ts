import type { ProviderType } from '../../src/schema/registry.ts';

/** What a type of backend is called, and which fields it needs. */
export type Kind = {
  readonly type: ProviderType;
  readonly words: string;
  /** Proposed address; null where the service has one of its own. */
  readonly url: string | null;
  readonly urlWords: string;
  /** Proposed variable of the key; null where no key is needed. */
  readonly keyVariable: string | null;
};

export const kinds: readonly Kind[] = [
  { type: 'ollama', words: 'Ollama', url: 'http://127.0.0.1:11434', urlWords: 'Address', keyVariable: null },
  { type: 'openai', words: 'OpenAI', url: null, urlWords: 'Address', keyVariable: 'OPENAI_API_KEY' },
  { type: 'anthropic', words: 'Anthropic', url: null, urlWords: 'Address', keyVariable: 'ANTHROPIC_API_KEY' },
  { type: 'gemini', words: 'Gemini', url: null, urlWords: 'Address', keyVariable: 'GEMINI_API_KEY' },
  { type: 'vllm', words: 'vLLM', url: 'http://127.0.0.1:8000', urlWords: 'Address', keyVariable: '' },
  {
    type: 'openai-compatible',
    words: 'Another with the interface of OpenAI',
    url: '',
    urlWords: 'Address',
    keyVariable: '',
  },
  { type: 'local', words: 'A model file on this machine', url: '', urlWords: 'Address', keyVariable: null },
  {
    type: 'scripted',
    words: 'A script in the place of a model',
    url: '',
    urlWords: 'File of the script',
    keyVariable: null,
  },
];
