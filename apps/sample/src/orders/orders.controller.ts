import {
  BadRequestException,
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  NotFoundException,
  Param,
  ParseUUIDPipe,
  Post,
} from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Authenticated, type Caller, CurrentCaller, CurrentUser, Public } from '@svc/auth';
import type { Repository } from 'typeorm';
import type { User } from '../users/user.entity';
import { Order } from './order.entity';

const MENU = ['tea', 'coffee', 'cake'];

/** Every route needs a token of the default guard, but the public one. */
@Controller('orders')
@Authenticated()
export class OrdersController {
  constructor(@InjectRepository(Order) private readonly orders: Repository<Order>) {}

  @Get('menu')
  @Public()
  menu() {
    return { data: MENU };
  }

  @Get()
  async list(@CurrentCaller() { userId }: Caller) {
    return { data: await this.orders.find({ where: { userId }, order: { createdAt: 'ASC' } }) };
  }

  @Post()
  async place(@CurrentUser() user: User, @Body('item') item: unknown) {
    if (typeof item !== 'string' || !MENU.includes(item))
      throw new BadRequestException(`item must be one of ${MENU.join(', ')}`);
    return { data: await this.orders.save({ userId: user.id, item }) };
  }

  @Delete(':id')
  @HttpCode(204)
  async cancel(@CurrentCaller() { userId }: Caller, @Param('id', ParseUUIDPipe) id: string): Promise<void> {
    // The owner is part of the condition: someone else's order does not exist here.
    const { affected } = await this.orders.delete({ id, userId });
    if (!affected) throw new NotFoundException('No such order.');
  }
}
