import { array, boolean, enums, nullable, object, optional, string } from 'superstruct';
import { ChainDocument, ChainGraph, ChainListed, DocumentFinding } from '../../schema/document-views.ts';
import { returns, route, shown } from '../operation.ts';

const layer = optional(enums(['user', 'project']));
const file = { file: string() };
const ifMatch = { if_match: optional(string()) };
const tagged = { headers: ({ sha256 }: { readonly sha256: string }) => ({ etag: `"${sha256}"` }) };

/** Chains of the overlay (09 §6.8). */
export const chainRoutes = {
  pageChains: route('GET', '/api/chains', 'any', object({}), shown(array(ChainListed)), { form: 'items' }),
  getChain: route(
    'GET',
    '/api/chains/{file}',
    'any',
    object({ ...file, source: optional(enums(['project', 'user', 'builtin'])) }),
    shown(ChainDocument),
    tagged,
  ),
  /** Written atomically, and trusted by this act. */
  putChain: route(
    'PUT',
    '/api/chains/{file}',
    'recent',
    object({ ...file, text: string(), source: layer, ...ifMatch, if_none_match: optional(string()) }),
    shown(object({ ...ChainDocument.schema, created: boolean() })),
    {
      ...tagged,
      precondition: 'if-match-or-none',
      body: 'document',
      status: { among: [200, 201], of: ({ created }) => (created ? 201 : 200) },
    },
  ),
  deleteChain: route(
    'DELETE',
    '/api/chains/{file}',
    'recent',
    object({ ...file, source: layer, ...ifMatch }),
    returns<null>(),
    { status: 204, precondition: 'if-match' },
  ),
  validateChain: route(
    'POST',
    '/api/chains/validate',
    'any',
    object({ text: string() }),
    shown(object({ valid: boolean(), findings: array(DocumentFinding), graph: nullable(ChainGraph) })),
    { body: 'document' },
  ),
} as const;
