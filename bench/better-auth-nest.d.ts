/** The part of @thallesp/nestjs-better-auth 2.8 that the benchmark uses. It is installed only for the benchmark. */
declare module '@thallesp/nestjs-better-auth' {
  import type { DynamicModule } from '@nestjs/common';
  import type { BetterAuth } from 'better-auth';

  class AuthModule {
    static forRoot(options: { auth: BetterAuth }): DynamicModule;
  }

  function AllowAnonymous(): ClassDecorator & MethodDecorator;
}
