import {
  type ArgumentsHost,
  Catch,
  type ExceptionFilter,
  HttpException,
  Injectable,
  Logger,
  Optional,
  UseFilters,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { AuthException, StoreUnavailable } from '../kernel/auth.exception';
import { isUnavailable } from '../kernel/unavailable';
import { HasherBusy } from '../password/hasher-busy.exception';
import { Realm, Realms } from '../realm/realm';

interface Answer {
  status: number;
  headers: AuthException['headers'];
  body: object;
}

/**
 * Answers every failure of the library's routes as JSON, whatever `Accept` says: the outcome's body and
 * headers, and nothing of what is behind a fault.
 */
@Catch()
@Injectable()
export class AuthExceptionFilter implements ExceptionFilter {
  private readonly logger = new Logger('Auth');

  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly realms: Realms,
    @Optional() private readonly own?: Realm,
  ) {}

  /** A host's own route has no realm of its own; the default one speaks for it. */
  private get realm(): Realm {
    return this.own ?? this.realms.default.realm;
  }

  catch(error: unknown, host: ArgumentsHost): void {
    const { httpAdapter } = this.adapterHost;
    const http = host.switchToHttp();
    const { status, headers, body } = this.answer(error, http.getRequest());
    for (const [name, value] of Object.entries(headers)) httpAdapter.setHeader(http.getResponse(), name, value);
    httpAdapter.reply(http.getResponse(), body, status);
  }

  private answer(error: unknown, request: object): Answer {
    if (error instanceof AuthException) return this.refusal(error, request);
    if (isUnavailable(error)) return this.refusal(new StoreUnavailable('A store', error), request);
    if (error instanceof HttpException)
      return { status: error.getStatus(), headers: {}, body: { message: error.message } };
    this.logger.error('unexpected failure', (error as Error)?.stack ?? String(error));
    return { status: 500, headers: {}, body: { message: this.realm.speakTo(request)('server.error', {}) } };
  }

  private refusal(error: AuthException, request: object): Answer {
    const status = error.getStatus();
    // A full queue is told by the security log, which a flood does not flood.
    if (status >= 500 && !(error instanceof HasherBusy))
      this.logger.error(`${error.code}: ${error.message}`, (error.cause as Error | undefined)?.stack);
    return { status, headers: error.headers, body: error.in(this.realm.speakTo(request)).getResponse() };
  }
}

/**
 * Gives a host's own controller or route the library's error bodies: JSON, whatever `Accept` says.
 *
 * @publicApi
 */
export const ForceJson = (): ClassDecorator & MethodDecorator => UseFilters(AuthExceptionFilter);
