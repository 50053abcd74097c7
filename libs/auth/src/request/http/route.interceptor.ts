import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { type Observable, defer, lastValueFrom } from 'rxjs';
import { RequestScope } from '../../foundation/platform/deadline';
import { RequestObserver } from '../gates/request-log';
import { TokenDelivery } from './token-response';

/** Who a request comes from, as a fair share of the hasher is counted. */
export abstract class FairShareKeys {
  /** The client, then the account it names. Neither is kept: both are hashed. */
  abstract keysOf(request: object): readonly string[];
}

/**
 * What every request to the library's routes gets: a scope, which `RouteGuard` has opened for its gates, so that whatever
 * it hashes counts as its sender's share and all its waits for the stores as one; its tokens written as the realm's mode
 * says; and an end that operators are told. One interceptor, because each costs Nest several observables a request.
 */
@Injectable()
export class LibraryRouteInterceptor implements NestInterceptor {
  constructor(
    private readonly fairShareKeys: FairShareKeys,
    private readonly delivery: TokenDelivery,
    private readonly observer: RequestObserver,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const [controller, handler] = [context.getClass(), context.getHandler()];
    const request: object = context.switchToHttp().getRequest();
    const scope = RequestScope.of(request);
    scope.fairShareKeys = () => this.fairShareKeys.keysOf(request);
    const handled = (): Promise<unknown> => lastValueFrom(next.handle(), { defaultValue: undefined });
    const scoped = async (): Promise<unknown> => {
      try {
        const answer = await scope.run(handled);
        return this.delivery.of(answer, context);
      } finally {
        scope.end();
      }
    };
    // Not before somebody listens: an interceptor of the host's may ask for an answer and then want none.
    return defer(() => this.observer.observe(controller, handler, request, scoped));
  }
}
