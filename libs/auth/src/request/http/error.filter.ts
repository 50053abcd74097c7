import { type ArgumentsHost, Catch, type ExceptionFilter, Injectable, Optional, UseFilters } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { AuthException } from '../../foundation/platform/errors';
import { Realm, Realms } from '../../foundation/realm/realm';
import { isForeign, refusalOf } from '../gates/transport-errors';

interface Answer {
  status: number;
  headers: AuthException['headers'];
  body: object;
}

/**
 * Writes every error of the library's routes as JSON, independent of `Accept`. The response never contains details of
 * an internal fault.
 */
@Catch()
@Injectable()
export class AuthExceptionFilter implements ExceptionFilter {
  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly realms: Realms,
    @Optional() private readonly own?: Realm,
  ) {}

  /** A route of the host has no realm; the default realm translates its errors. */
  private get realm(): Realm {
    return this.own ?? this.realms.default.realm;
  }

  catch(error: unknown, host: ArgumentsHost): void {
    // For other transports, the guard makes the error.
    if (host.getType() !== 'http') throw error;
    const { httpAdapter } = this.adapterHost;
    const http = host.switchToHttp();
    const { status, headers, body } = this.answer(error, http.getRequest());
    for (const [name, value] of Object.entries(headers)) httpAdapter.setHeader(http.getResponse(), name, value);
    httpAdapter.reply(http.getResponse(), body, status);
  }

  private answer(error: unknown, request: object): Answer {
    if (isForeign(error)) return { status: error.getStatus(), headers: {}, body: { message: error.message } };
    const refusal = refusalOf(error).translatedBy(this.realm.translatorFor(request));
    return { status: refusal.getStatus(), headers: refusal.headers, body: refusal.getResponse() };
  }
}

/**
 * Gives a host's own controller or route the error format of the library: JSON, independent of `Accept`.
 *
 * @publicApi
 */
export const ForceJson = (): ClassDecorator & MethodDecorator => UseFilters(AuthExceptionFilter);
