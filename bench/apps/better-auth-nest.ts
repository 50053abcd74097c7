// better-auth with @thallesp/nestjs-better-auth as in its README: its global guard protects every route.
import { Controller, Get, Module, Query } from '@nestjs/common';
import { AllowAnonymous, AuthModule } from '@thallesp/nestjs-better-auth';
import { BetterAuthInstance } from './better-auth.instance';
import { SpentController } from './counting';
import { ANSWER, serve } from './serve';

async function main(): Promise<void> {
  const instance = await BetterAuthInstance.open('database');
  // The load generator asks without a session.
  AllowAnonymous()(SpentController);

  @Controller()
  class Routes {
    @Get('guarded')
    guarded() {
      return ANSWER;
    }

    @Get('sessions')
    @AllowAnonymous()
    sessions(@Query('count') count: string): Promise<string[]> {
      return instance.sessions(Number(count));
    }
  }

  @Module({
    imports: [AuthModule.forRoot({ auth: instance.auth })],
    controllers: [Routes, SpentController],
  })
  class BetterAuthNestApp {}

  // The module adds its own body parsers, and its README says to switch off those of Nest.
  await serve(BetterAuthNestApp, { bodyParser: false });
}

void main();
