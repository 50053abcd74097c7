import { Header, applyDecorators } from '@nestjs/common';

/** Allows files of this server only, forbids HTML made from text (Trusted Types), and forbids frames. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-src 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/**
 * What the HTML of a mail is allowed in its frame: to open links in another tab. No script runs. The page around it can read it,
 * because it has the same origin; a document without scripts gains nothing from that.
 */
export const MAIL_SANDBOX = 'allow-popups allow-popups-to-escape-sandbox allow-same-origin';

/** For the HTML of a mail, in a frame of a page of this server: no script, no file of another address, and no form. */
const MAIL_POLICY = [
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
  `sandbox ${MAIL_SANDBOX}`,
].join('; ');

/** The headers of an HTML document whose URL or content can contain a secret. */
const headersOf = (policy: string): Record<string, string> => ({
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': policy,
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cache-Control': 'no-store',
});

const documentHeaders = (policy: string): MethodDecorator =>
  applyDecorators(...Object.entries(headersOf(policy)).map(([name, value]) => Header(name, value)));

/** Those of a page of the sample. */
export const PAGE_HEADERS = headersOf(CONTENT_SECURITY_POLICY);

export const PageHeaders = (): MethodDecorator => documentHeaders(CONTENT_SECURITY_POLICY);

/** The headers of the HTML of a mail. */
export const MailHeaders = (): MethodDecorator => documentHeaders(MAIL_POLICY);
