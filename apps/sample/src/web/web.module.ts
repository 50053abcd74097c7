import { type DynamicModule, Module } from '@nestjs/common';
import type { FeatureOptions } from '@svc/auth';
import type { Environment } from '../environment';
import { PublicUrl } from './own-host.guard';
import { PageConfig } from './page-config';
import { WebController } from './web.controller';

/** The web page of the sample. */
@Module({ controllers: [WebController] })
export class WebModule {
  static forPage(environment: Environment, features?: FeatureOptions): DynamicModule {
    const config = { provide: PageConfig, useValue: new PageConfig(environment.development, features) };
    const publicUrl = { provide: PublicUrl, useValue: new PublicUrl(environment.url) };
    return { module: WebModule, providers: [config, publicUrl] };
  }
}
