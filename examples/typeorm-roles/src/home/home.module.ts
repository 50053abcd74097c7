import { Controller, Get, Module } from '@nestjs/common';

@Controller()
export class HomeController {
  @Get()
  appInfo() {
    return { name: 'boilerplate' };
  }
}

@Module({ controllers: [HomeController] })
export class HomeModule {}
