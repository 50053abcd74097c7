import { Args, Field, ID, Mutation, ObjectType, Query, Resolver, Subscription } from '@nestjs/graphql';
import { Abilities, type Caller, CurrentCaller } from '@svc/auth';
import { EventEmitter, on } from 'node:events';

@ObjectType()
class Note {
  @Field(() => ID)
  id!: number;

  @Field()
  text!: string;

  owner!: string;
}

@Resolver()
export class NotesResolver {
  private readonly notes: Note[] = [];
  private readonly events = new EventEmitter();

  @Query(() => [Note])
  @Abilities('notes.read')
  myNotes(@CurrentCaller() { userId }: Caller) {
    return this.notes.filter(({ owner }) => owner === userId);
  }

  @Mutation(() => Note)
  @Abilities('notes.write')
  addNote(@Args('text') text: string, @CurrentCaller() { userId }: Caller) {
    const note: Note = { id: this.notes.length + 1, text, owner: userId };
    this.notes.push(note);
    this.events.emit(userId, note);
    return note;
  }

  /** The subscription is checked when it begins. The token is in the headers of the WebSocket's handshake. */
  @Subscription(() => Note, { resolve: ([note]: Note[]) => note })
  @Abilities('notes.read')
  noteAdded(@CurrentCaller() { userId }: Caller) {
    return on(this.events, userId);
  }
}
