import { existsSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import sirv from 'sirv';
import { errorReply, refuse } from './error-body.ts';
import { isPage, pathOf } from './guard.ts';
import { respond } from './respond.ts';

/** Stands in the page for the nonce of a reply. */
const noncePlace = '__NONCE__';
const missing = { status: 404, text: 'Not found.\n', type: 'text/plain; charset=utf-8' } as const;

/**
 * The built application and nothing else (09 §9). The names of its files are read once, so that no path of a request is
 * ever looked up on the disk.
 * @param root directory URL of the build; it may be missing
 */
export function createStatic(root: URL) {
  const directory = fileURLToPath(root);
  const pagePath = join(directory, 'index.html');
  const page = existsSync(pagePath) ? readFileSync(pagePath, 'utf8') : null;
  const files =
    page === null ? null : sirv(directory, { etag: true, gzip: true, brotli: true, dotfiles: false, extensions: [] });

  return (
    request: IncomingMessage,
    response: ServerResponse,
    site: { readonly id: string; readonly nonce: string },
  ): void => {
    const path = pathOf(request.url ?? '');
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      respond(request, response, errorReply(refuse('method_not_allowed', 'Pages are read only.'), site.id));
      return;
    }
    if (isPage(path) || path === '/index.html') {
      const text = page?.replaceAll(noncePlace, site.nonce);
      respond(
        request,
        response,
        text === undefined ? missing : { status: 200, text, type: 'text/html; charset=utf-8' },
      );
      return;
    }
    // A part of a file would be cut by what a client says of it.
    delete request.headers.range;
    const named = /\/\.|\/\/|\.map$/.test(path) ? null : localName(directory, path);
    if (files === null || named === null || !existsSync(named)) {
      respond(request, response, missing);
      return;
    }
    response.setHeader(
      'Cache-Control',
      path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-store',
    );
    files(request, response, () => {
      response.setHeader('Cache-Control', 'no-store');
      respond(request, response, missing);
    });
  };
}

/** Where a path would lie. The guard has refused separators and control characters that were encoded. */
const localName = (directory: string, path: string): string => join(directory, decodeURIComponent(path));
