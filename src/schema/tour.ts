/**
 * The tour of `reins demo` (06 §27): the prompt that starts it, what is planted in its workspace, and the file that it
 * wants to write. The built-in script knows the tour by these words. The credentials are invented: they open nothing.
 */
export const tour = {
  prompt: 'Give me the tour.',
  note: { path: 'note.txt', content: 'Buy oats for the horse. The gate sticks; lift it a little.\n' },
  credentials: {
    path: '.aws/credentials',
    content: '[default]\naws_access_key_id = INVENTED\naws_secret_access_key = invented-for-the-demo\n',
  },
  written: { path: 'reins-demo.txt', content: 'Written by a script that plays a model, after somebody said yes.\n' },
} as const;
