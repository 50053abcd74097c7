import { Controller, Get, Post } from '@nestjs/common';
import { Abilities, type Caller, CurrentCaller } from '@svc/auth';
import { AcceptsKeys } from '@svc/auth/access-keys';

@Controller('orders')
export class OrdersController {
  @Get()
  @AcceptsKeys()
  @Abilities('orders.read')
  list(@CurrentCaller() { userId, service }: Caller) {
    return { for: service ?? userId, orders: [{ id: 1, item: 'book' }] };
  }

  @Post()
  @AcceptsKeys()
  @Abilities('orders.write')
  place() {
    return { id: 2 };
  }
}
