import type { ServerResponse } from 'node:http';

const everywhere: readonly (readonly [string, string])[] = [
  ['X-Content-Type-Options', 'nosniff'],
  ['X-Frame-Options', 'DENY'],
  ['Referrer-Policy', 'no-referrer'],
  ['Cross-Origin-Opener-Policy', 'same-origin'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
  ['Permissions-Policy', 'camera=(), microphone=(), geolocation=(), payment=(), usb=(), clipboard-read=()'],
  ['Cache-Control', 'no-store'],
];

const pagePolicy = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "object-src 'none'",
  ].join('; ');

const apiPolicy = "default-src 'none'; frame-ancestors 'none'";

/**
 * The headers of every reply (09 §3.6), whatever becomes of the request.
 * @param page the nonce of an application page or asset; null for the API
 */
export function securityHeaders(
  requestId: string,
  page: string | null,
  tls: boolean,
): readonly (readonly [string, string])[] {
  return [
    ['Content-Security-Policy', page === null ? apiPolicy : pagePolicy(page)],
    ...everywhere,
    ['X-Request-Id', requestId],
    ...(tls ? ([['Strict-Transport-Security', 'max-age=31536000']] as const) : []),
  ];
}

export function setSecurityHeaders(
  response: ServerResponse,
  requestId: string,
  page: string | null,
  tls: boolean,
): void {
  for (const [name, value] of securityHeaders(requestId, page, tls)) response.setHeader(name, value);
}
