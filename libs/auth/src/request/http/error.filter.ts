import { type ArgumentsHost, Catch, type ExceptionFilter, Injectable, Optional, UseFilters } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Realm, Realms } from '../../foundation/realm/realm';
import { RequestObserver } from '../gates/request-log';
import { protectLate } from './route-answer';
import { forClient, isForeign, nameLanguage, refusalOf } from '../gates/transport-errors';

/**
 * Writes every error of the library's routes as JSON, independent of `Accept`. The response never contains details of
 * an internal fault.
 */
@Catch()
@Injectable()
export class AuthExceptionFilter implements ExceptionFilter {
  constructor(
    protected readonly adapterHost: HttpAdapterHost,
    private readonly realms: Realms,
    @Optional() private readonly own?: Realm,
    @Optional() private readonly observer?: RequestObserver,
  ) {}

  /** A route of the host has no realm; the default realm translates its errors. */
  protected get realm(): Realm {
    return this.own ?? this.realms.default.realm;
  }

  catch(error: unknown, host: ArgumentsHost): void {
    // For other transports, the guard makes the error.
    if (host.getType() !== 'http') throw error;
    const http = host.switchToHttp();
    const [request, response] = [http.getRequest<object>(), http.getResponse<unknown>()];
    this.observer?.failed(request, error);
    // Below a controller of the host, the response is the host's.
    if (this.own) protectLate(request, response);
    this.write(error, request, response);
  }

  protected write(error: unknown, request: object, response: unknown): void {
    const { httpAdapter } = this.adapterHost;
    if (isForeign(error)) return void httpAdapter.reply(response, { message: error.message }, error.getStatus());
    const refusal = forClient(refusalOf(error), this.realms.get(this.realm.guard), request);
    for (const [name, value] of Object.entries(refusal.headers)) httpAdapter.setHeader(response, name, value);
    nameLanguage(httpAdapter, response, refusal);
    httpAdapter.reply(response, refusal.getResponse(), refusal.getStatus());
  }
}

/**
 * Gives a host's own controller or route the error format of the library: JSON, independent of `Accept`.
 *
 * @publicApi
 */
export const ForceJson = (): ClassDecorator & MethodDecorator => UseFilters(AuthExceptionFilter);
