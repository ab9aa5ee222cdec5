/** Figures of one bench program, printed as a table with their goals; nothing is asserted. */
type Row = { readonly what: string; readonly value: string; readonly goal: string; readonly over: boolean };

const scale = { us: 1000, ms: 1 } as const;

export function createFigures() {
  const rows: Row[] = [];
  return {
    /** Milliseconds, shown in `unit`; without a goal the figure is only reported. */
    time(what: string, ms: number, goalMs: number | null, unit: keyof typeof scale = 'ms'): void {
      const shown = (value: number): string => `${(value * scale[unit]).toFixed(unit === 'us' ? 1 : 2)} ${unit}`;
      const goal = goalMs === null ? '' : shown(goalMs);
      rows.push({ what, value: shown(ms), goal, over: goalMs !== null && ms > goalMs });
    },

    add: (row: Row): number => rows.push(row),

    print(): void {
      console.log('\n| figure | reins | goal | |\n|---|---|---|---|');
      for (const { what, value, goal, over } of rows) {
        console.log(`| ${what} | ${value} | ${goal} | ${over ? 'over' : ''} |`);
      }
    },
  };
}

export type Figures = ReturnType<typeof createFigures>;

export const sorted = (taken: readonly number[]): readonly number[] => [...taken].sort((left, right) => left - right);

/** The value below which this part of the sorted ones lies. */
export const at = (values: readonly number[], part: number): number =>
  values[Math.min(values.length - 1, Math.floor(values.length * part))] ?? 0;

export const median = (taken: readonly number[]): number => at(sorted(taken), 0.5);
