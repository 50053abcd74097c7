import { Header, applyDecorators } from '@nestjs/common';

/** Keeps an answer out of every cache (RFC 6749 §5.1, RFC 9111 §5.2.2.5). */
export const NoStore = (): MethodDecorator =>
  applyDecorators(Header('Cache-Control', 'no-store, private'), Header('Pragma', 'no-cache'));
