import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { Auth } from '@svc/auth';
import type { Environment } from '../environment';
import { NotFoundFilter } from './not-found.filter';
import { PublicUrl } from './own-host.guard';
import { PAGE_CONFIG, PageConfig } from './page-config';
import { SUPPORT_CONFIG, SupportConfig } from './support-config';
import { SupportController } from './support.controller';
import { WebController } from './web.controller';

/** The web pages of the sample: that of the customers, and that of the operators. */
@Module({
  controllers: [WebController, SupportController],
  providers: [{ provide: APP_FILTER, useClass: NotFoundFilter }],
})
export class WebModule {
  static forPage(environment: Environment): DynamicModule {
    const config = {
      provide: PAGE_CONFIG,
      inject: [Auth],
      useFactory: (auth: Auth) => () => new PageConfig(environment, auth.guardConfig()),
    };
    const support = {
      provide: SUPPORT_CONFIG,
      inject: [Auth],
      useFactory: (auth: Auth) => () =>
        new SupportConfig(environment, { own: auth.guard('admin').guardConfig(), ofUsers: auth.guardConfig() }),
    };
    const publicUrl = { provide: PublicUrl, useValue: new PublicUrl(environment.url) };
    return { module: WebModule, providers: [config, support, publicUrl] };
  }
}
