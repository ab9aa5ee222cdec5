/** Option tables (02 §9.7): what of a program's options and operands an allowlist may grant. */

/** `file`: a path that is read, and no directory, for a program that would read whatever lies in one. */
export type OperandKind = 'none' | 'text' | 'read' | 'file' | 'write' | 'rev' | 'url';

/** An option with a value. */
export type OptionValue =
  | string
  | {
      readonly name: string;
      readonly kind?: OperandKind | 'enum' | 'int';
      /** Of kind `enum`. */
      readonly values?: readonly string[];
      /** The value may be left out; then only an attached one is a value. */
      readonly optional?: boolean;
      /** What may stand nowhere in the value. */
      readonly deny_pattern?: string;
    };

export type OptionTable = {
  /** No entry can grant it. */
  readonly grant?: 'never';
  /** A table whose members count here too; the name of the program itself: the shipped one (02 §9.7). */
  readonly extends?: string;
  readonly flags?: readonly string[];
  readonly values?: readonly OptionValue[];
  /** `-<digits>` is an option. */
  readonly numeric?: boolean;
  readonly style?: 'posix' | 'go' | 'find';
  /** What the first word must be: a program that reads it as a bundle also without its dash would run what it names. */
  readonly first_word?: 'option';
  /** A word with a leading dash that is this as a whole is an operand: the program takes none of the kind for an option. */
  readonly no_option?: string;
  /** One of these must stand among the options. */
  readonly required?: readonly string[];
  readonly operands?: OperandKind;
  /** Operands only beside one of these options. */
  readonly operands_need?: readonly string[];
  readonly max_operands?: number;
  /** Kind of the first operand where it differs, unless one of these options stands before it. */
  readonly first?: OperandKind;
  readonly first_unless?: readonly string[];
  /** What the operand at `index` (0 when absent) must be as a whole. */
  readonly pattern?: string;
  readonly index?: number;
  /** What may stand nowhere in an operand. */
  readonly deny_pattern?: string;
  readonly subcommands?: Readonly<Record<string, OptionTable>>;
  /** Options before the subcommand. */
  readonly globals?: readonly string[];
};

export type CommandTables = {
  readonly format: 1;
  readonly programs: Readonly<Record<string, OptionTable>>;
  /** The patterns of an operator's own tables, compiled when they were read. */
  readonly patterns?: ReadonlyMap<string, { matchWhole(text: string): boolean; test(text: string): boolean }>;
};
