import { type DynamicModule, Module } from '@nestjs/common';
import type { SampleOptions } from '../auth.options';
import type { Environment } from '../environment';
import { PublicUrl } from './own-host.guard';
import { PageConfig } from './page-config';
import { WebController } from './web.controller';

/** The web page of the sample. */
@Module({ controllers: [WebController] })
export class WebModule {
  static forPage(environment: Environment, options: SampleOptions): DynamicModule {
    const config = { provide: PageConfig, useValue: new PageConfig(environment.development, options) };
    const publicUrl = { provide: PublicUrl, useValue: new PublicUrl(environment.url) };
    return { module: WebModule, providers: [config, publicUrl] };
  }
}
