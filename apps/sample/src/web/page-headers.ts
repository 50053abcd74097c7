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
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** The headers of an HTML page whose URL or content can contain a secret. */
export const PageHeaders = (): MethodDecorator =>
  applyDecorators(
    Header('Content-Type', 'text/html; charset=utf-8'),
    Header('Content-Security-Policy', CONTENT_SECURITY_POLICY),
    Header('Referrer-Policy', 'no-referrer'),
    Header('X-Content-Type-Options', 'nosniff'),
    Header('Cross-Origin-Opener-Policy', 'same-origin'),
    Header('Cache-Control', 'no-store'),
  );
