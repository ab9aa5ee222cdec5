import { array, boolean, enums, nullable, number, object, string } from 'superstruct';
import type { Known } from './shape.ts';

const source = enums(['project', 'user', 'builtin']);

/** One defect or caution of a document, at its JSON path. */
export const DocumentFinding = object({ severity: string(), code: string(), path: string(), message: string() });
export type DocumentFinding = Known<typeof DocumentFinding>;

/** A policy of the overlay (09 §6.7). */
export const PolicyListed = object({
  file: string(),
  name: string(),
  source,
  sha256: nullable(string()),
  valid: boolean(),
  trusted: boolean(),
  in_effect: boolean(),
  /** The layer whose file of that name is used in its place. */
  shadowed_by: nullable(string()),
});
export type PolicyListed = Known<typeof PolicyListed>;

const document = {
  file: string(),
  source,
  text: string(),
  sha256: string(),
  valid: boolean(),
  findings: array(DocumentFinding),
  trusted: boolean(),
};
export const PolicyDocument = object(document);
export type PolicyDocument = Known<typeof PolicyDocument>;

/** The picture of a chain (09 §6.8). */
export const ChainGraph = object({
  nodes: array(object({ id: string(), handler: string(), label: string(), start: boolean(), tools: array(string()) })),
  /** `to` is a task or `end`. */
  edges: array(object({ from: string(), to: string(), operator: string(), when: string(), label: string() })),
  unreachable: array(string()),
});
export type ChainGraph = Known<typeof ChainGraph>;

export const ChainListed = object({
  file: string(),
  id: nullable(string()),
  source,
  sha256: string(),
  valid: boolean(),
  trusted: boolean(),
  default_for: array(enums(['chat', 'run'])),
  task_count: number(),
});
export type ChainListed = Known<typeof ChainListed>;

export const ChainDocument = object({ ...document, graph: nullable(ChainGraph) });
export type ChainDocument = Known<typeof ChainDocument>;
