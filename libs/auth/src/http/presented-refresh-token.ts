import { type ExecutionContext, Injectable, type PipeTransform, createParamDecorator } from '@nestjs/common';
import { RefreshCookie } from './refresh-cookie';

interface Carrying {
  body?: { refresh_token?: unknown } | null;
  headers?: { cookie?: unknown };
}

/** Takes the refresh token from the body, else from the cookie. Never from the URL, which ends up in logs. */
@Injectable()
export class RefreshTokenPipe implements PipeTransform<Carrying, string> {
  constructor(private readonly cookie: RefreshCookie) {}

  transform({ body, headers }: Carrying): string {
    const sent = body?.refresh_token;
    // What is no string counts as absent: made one, every array would hash alike.
    const inBody = typeof sent === 'string' ? sent.trim() : '';
    return inBody || this.cookie.read(headers?.cookie);
  }
}

const RequestItself = createParamDecorator((_: unknown, context: ExecutionContext) =>
  context.switchToHttp().getRequest(),
);

/** The refresh token a request presents; the empty string when it presents none. */
export const PresentedRefreshToken = (): ParameterDecorator => RequestItself(RefreshTokenPipe);
