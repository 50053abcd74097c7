import { Module } from '@nestjs/common';
import { ConfigModule } from '@nestjs/config';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule } from './auth/auth.module.js';
import authConfig from './auth/config/auth.config.js';
import { dataSourceOptions } from './database/data-source.js';
import { HomeModule } from './home/home.module.js';
import mailConfig from './mail/mail.config.js';
import { UsersModule } from './users/users.module.js';

@Module({
  imports: [
    ConfigModule.forRoot({ isGlobal: true, load: [authConfig, mailConfig] }),
    TypeOrmModule.forRoot(dataSourceOptions),
    UsersModule,
    AuthModule,
    HomeModule,
  ],
})
export class AppModule {}
