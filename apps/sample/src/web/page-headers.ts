import { Header, applyDecorators } from '@nestjs/common';

/** Nothing but this server's own files, no markup made from text, and nobody may frame the page. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** An HTML page whose address, or whose content, may be a secret. */
export const PageHeaders = (): MethodDecorator =>
  applyDecorators(
    Header('Content-Type', 'text/html; charset=utf-8'),
    Header('Content-Security-Policy', CONTENT_SECURITY_POLICY),
    Header('Referrer-Policy', 'no-referrer'),
    Header('X-Content-Type-Options', 'nosniff'),
    Header('Cross-Origin-Opener-Policy', 'same-origin'),
    Header('Cache-Control', 'no-store'),
  );
