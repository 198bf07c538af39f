// Surface voxels near what is held. A message is about one part: what the others have near stays, until an empty one says that it is over.
import type { message_near_voxels } from './protocol.mjs';

export class NearVoxels {
  private parts = new Map<number, message_near_voxels>();

  take(message: message_near_voxels): void {
    if (message.centres.length) this.parts.set(message.part, message);
    else this.parts.delete(message.part);
  }

  all(): Iterable<message_near_voxels> {
    return this.parts.values();
  }

  clear(): void {
    this.parts.clear();
  }
}
