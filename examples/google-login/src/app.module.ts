import { Controller, Get, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule, Authenticated, CurrentUser, authEntities, authMigrations } from '@svc/auth';
import { GoogleController, GoogleGuard, GoogleStrategy } from './google.js';
import { Identity } from './identity.js';
import { PAGE } from './page.js';
import { SocialLogin } from './social-login.js';
import { CreateUsers1795000000000, User } from './users.js';

@Controller()
export class AppController {
  @Get()
  page() {
    return PAGE;
  }

  @Get('me')
  @Authenticated()
  me(@CurrentUser() { name, email }: User) {
    return { name, email };
  }
}

@Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'postgres',
      url: process.env.DATABASE_URL,
      entities: [...authEntities, User, Identity],
      migrations: [...authMigrations, CreateUsers1795000000000],
      migrationsRun: true,
    }),
    AuthModule.forRoot({
      users: { entity: User },
      features: { registration: true },
      secret: process.env.SVC_SECRET,
      // The tokens reach the page without being in a URL.
      cookieMode: true,
      // Without Redis the denylist is in the memory of this process: enough to try it, refused in production.
      redis: { url: process.env.REDIS_URL },
    }),
  ],
  controllers: [AppController, GoogleController],
  providers: [GoogleStrategy, GoogleGuard, SocialLogin],
})
export class AppModule {}
