import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { Module } from '@nestjs/common';
import { ConfigModule, ConfigService } from '@nestjs/config';
import { GraphQLModule } from '@nestjs/graphql';
import { ThrottlerModule } from '@nestjs/throttler';
import { AppController } from './app.controller.js';
import { AppResolver } from './app.resolver.js';
import { AuthModule } from './auth/auth.module.js';
import type { SecurityConfig } from './common/configs/config.interface.js';
import config from './common/configs/config.js';
import { PrismaModule } from './common/prisma/prisma.module.js';
import { GqlConfigService } from './gql-config.service.js';
import { PostsModule } from './posts/posts.module.js';
import { UsersModule } from './users/users.module.js';

@Module({
  imports: [
    ConfigModule.forRoot({ isGlobal: true, load: [config] }),
    PrismaModule,
    GraphQLModule.forRootAsync<ApolloDriverConfig>({
      driver: ApolloDriver,
      useClass: GqlConfigService,
    }),
    ThrottlerModule.forRootAsync({
      useFactory: (configService: ConfigService) => {
        const { loginTtl, loginLimit } = configService.get<SecurityConfig>('security')!;
        return [{ ttl: loginTtl, limit: loginLimit }];
      },
      inject: [ConfigService],
    }),
    AuthModule,
    UsersModule,
    PostsModule,
  ],
  controllers: [AppController],
  providers: [AppResolver],
})
export class AppModule {}
