import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ApplicationConfig, HttpAdapterHost, MetadataScanner, ModulesContainer } from '@nestjs/core';
import type { AuthException } from '../kernel/auth.exception';
import { Realms } from '../realm/realm';
import { answersFirst } from './answers-first';
import { type Chosen, type OwnRoute, ownRoutes } from './own-routes';
import { UnreadableRequest } from './unreadable.exception';
import { unreadable } from './unreadable.policy';

/**
 * Answers requests to the library's routes that cannot be read: a body that is no JSON, too large, or in an unknown
 * encoding. Parsers run before any handler, so their failures reach no filter of a controller, and the framework's own
 * answer may quote the body. Those of the host's routes go their way.
 */
@Injectable()
export class UnreadableRequests implements OnModuleInit {
  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly application: ApplicationConfig,
    private readonly modules: ModulesContainer,
    private readonly realms: Realms,
  ) {}

  onModuleInit(): void {
    const { httpAdapter } = this.adapterHost;
    const routes = ownRoutes(this.modules, new MetadataScanner(), this.application.getGlobalPrefix());
    answersFirst(httpAdapter, (error, request: Chosen, response) => {
      const route = httpAdapter.isHeadersSent(response) ? undefined : routes.find((own) => own.matches(request));
      const refusal = route && this.refusal(error, route, request);
      if (refusal) httpAdapter.reply(response, refusal.getResponse(), refusal.getStatus());
      return Boolean(refusal);
    });
  }

  private refusal(error: unknown, { guard }: OwnRoute, request: Chosen): AuthException | null {
    const outcome = unreadable(error);
    return outcome && new UnreadableRequest(outcome).in(this.realms.get(guard).realm.speakTo(request));
  }
}
