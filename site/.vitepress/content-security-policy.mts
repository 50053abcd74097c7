import { createHash } from 'node:crypto';

const INLINE = /<script(?![^>]*\bsrc=)[^>]*>([\s\S]*?)<\/script>/g;

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/**
 * Adds a policy to a page that allows its own files only, and its inline scripts by their hashes. Styles may be inline:
 * the colours of code are attributes.
 */
export function withPolicy(html: string): string {
  const scripts = [...html.matchAll(INLINE)].map(([, text]) => hashOf(text!));
  const policy = [
    "default-src 'none'",
    `script-src 'self' ${[...new Set(scripts)].join(' ')}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return html.replace(
    '<meta charset="utf-8">',
    `$&\n    <meta http-equiv="Content-Security-Policy" content="${policy}">`,
  );
}
