import { boolean, enums, type Infer, nullable, number, optional, string, type } from 'superstruct';

/** Name of a file with instructions for agents, in the root of a workspace and in the user-level directory. */
export const instructionsName = 'AGENTS.md';

/** One such file as a run has it, or as it would. */
export const InstructionsView = type({
  source: enums(['project', 'user']),
  /** Of the file. */
  bytes: number(),
  /** Only its beginning is given. */
  cut: boolean(),
  /** Why the model does not get it; null = it does. */
  withheld: nullable(string()),
  /** The command that changes that, where there is one. */
  mend: nullable(string()),
  /** Of the text as it was given, which is kept with the run. */
  sha256: optional(string()),
});
export type InstructionsView = Infer<typeof InstructionsView>;
export type InstructionsSource = InstructionsView['source'];

/** A file with what the model gets of it: framed, empty where nothing is given. */
export type Instructions = InstructionsView & { readonly text: string };

/** The variable by which a chain asks for them (04 §10). */
export const instructionsVariable = {
  project: 'project_instructions',
  user: 'user_instructions',
} as const satisfies Readonly<Record<InstructionsSource, string>>;
