/* doctor: which haptic devices are plugged in, by their USB ids, and whether this user may use them */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "doctor.h"
#include "feeler/device.h"
#include "output.h"

enum { PATH_SIZE = 512, SYSFS_LINE_SIZE = 128 };

typedef struct known_device {
    unsigned vendor, product; /* product 0: all of that vendor */
    const char *word;         /* … or whatever calls itself so; NULL: by the ids */
    const char *name, *driver, *needs;
} known_device;

static const char spacenavd[] =
    "install spacenavd (on Debian: apt install spacenavd), or connect it in "
    "the page (WebHID, in Chromium), which needs no driver";
static const char touch[] = "install the vendor's Touch Device Driver and OpenHaptics (libHD)";

static const known_device known[] = {
    {0x256f, 0, NULL, "3Dconnexion SpaceMouse", "spacemouse", spacenavd},
    {0x046d, 0xc603, NULL, "SpaceMouse Plus XT", "spacemouse", spacenavd},
    {0x046d, 0xc605, NULL, "CADman", "spacemouse", spacenavd},
    {0x046d, 0xc606, NULL, "SpaceMouse Classic", "spacemouse", spacenavd},
    {0x046d, 0xc621, NULL, "SpaceBall 5000", "spacemouse", spacenavd},
    {0x046d, 0xc623, NULL, "SpaceTraveler", "spacemouse", spacenavd},
    {0x046d, 0xc625, NULL, "SpacePilot", "spacemouse", spacenavd},
    {0x046d, 0xc626, NULL, "SpaceNavigator", "spacemouse", spacenavd},
    {0x046d, 0xc627, NULL, "SpaceExplorer", "spacemouse", spacenavd},
    {0x046d, 0xc628, NULL, "SpaceNavigator for Notebooks", "spacemouse", spacenavd},
    {0x046d, 0xc629, NULL, "SpacePilot Pro", "spacemouse", spacenavd},
    {0x046d, 0xc62b, NULL, "SpaceMouse Pro", "spacemouse", spacenavd},
    {0x2988, 0x0302, NULL, "3D Systems Touch (serial)", "openhaptics", touch},
    {0x2988, 0x0304, NULL, "3D Systems Touch (HID)", "openhaptics", touch},
    {0x2988, 0, NULL, "3D Systems haptic device", "openhaptics", touch},
    {0x1451, 0, NULL, "Force Dimension device", "forcedimension",
     "install the Force Dimension SDK (libdhd)"},
    {0x0403, 0xcb48, NULL, "Novint Falcon", "forcedimension",
     "install a version of the Force Dimension SDK (libdhd) that supports it, or write a plugin "
     "(docs/devices.md)"},
    {0, 0, "Haply", "Haply device", "haply",
     "install the Haply Hub or the Inverse Service, and start it"},
    {0, 0, "Inverse3", "Haply Inverse3", "haply",
     "install the Haply Hub or the Inverse Service, and start it"},
    {0, 0, "VerseGrip", "Haply VerseGrip", "haply",
     "install the Haply Hub or the Inverse Service, and start it"},
};

/* the first line of a file, "" where there is none */
static void read_word(const char *folder, const char *name, char word[SYSFS_LINE_SIZE])
{
    char path[PATH_SIZE];
    word[0] = 0;
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path) return;
    FILE *file = fopen(path, "r");
    if (!file) return;
    if (!fgets(word, SYSFS_LINE_SIZE, file)) word[0] = 0;
    fclose(file);
    word[strcspn(word, "\n")] = 0;
    flr_text_clean(word, strlen(word));
}

static const known_device *recognise(const char *folder)
{
    char vendor[SYSFS_LINE_SIZE], product[SYSFS_LINE_SIZE], maker[SYSFS_LINE_SIZE],
        name[SYSFS_LINE_SIZE];
    read_word(folder, "idVendor", vendor);
    read_word(folder, "idProduct", product);
    read_word(folder, "manufacturer", maker);
    read_word(folder, "product", name);
    if (!vendor[0]) return NULL;
    const unsigned v = (unsigned)strtoul(vendor, NULL, 16),
                   p = (unsigned)strtoul(product, NULL, 16);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const known_device *k = &known[i];
        if (k->word ? strstr(maker, k->word) || strstr(name, k->word)
                    : k->vendor == v && (k->product == 0 || k->product == p))
            return k;
    }
    return NULL;
}

/* The node in /dev that programs open: a serial port or raw HID node below the device, else the USB node itself. */
static void find_node(const char *root, const char *folder, int depth, char node[PATH_SIZE])
{
    static const char *const kinds[] = {"tty", "hidraw"};
    DIR *listing = depth < 4 ? opendir(folder) : NULL;
    for (const struct dirent *entry; listing && !node[0] && (entry = readdir(listing));) {
        char path[PATH_SIZE];
        if (entry->d_name[0] == '.' || entry->d_type != DT_DIR) continue;
        if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= sizeof path)
            continue;
        for (int k = 0; k < 2 && !node[0]; k++) {
            DIR *inside = strcmp(entry->d_name, kinds[k]) == 0 ? opendir(path) : NULL;
            for (const struct dirent *one; inside && !node[0] && (one = readdir(inside));)
                if (one->d_name[0] != '.')
                    snprintf(node, PATH_SIZE, "%.200s/dev/%.200s", root, one->d_name);
            if (inside) closedir(inside);
        }
        if (!node[0]) find_node(root, path, depth + 1, node);
    }
    if (listing) closedir(listing);
    if (depth > 0 || node[0]) return;
    char bus[SYSFS_LINE_SIZE], number[SYSFS_LINE_SIZE];
    read_word(folder, "busnum", bus);
    read_word(folder, "devnum", number);
    snprintf(node, PATH_SIZE, "%.200s/dev/bus/usb/%03lu/%03lu", root, strtoul(bus, NULL, 10),
             strtoul(number, NULL, 10));
}

static void tell(flr_doctor *doctor, const char *root, const char *folder, const known_device *k)
{
    char vendor[SYSFS_LINE_SIZE], product[SYSFS_LINE_SIZE], node[PATH_SIZE] = "", value[300],
                                                            advice[900];
    read_word(folder, "idVendor", vendor);
    read_word(folder, "idProduct", product);
    find_node(root, folder, 0, node);
    const bool allowed = access(node, R_OK | W_OK) == 0;
    const flr_device_driver *driver = flr_device_driver_find(k->driver);
    flr_error why;
    const bool works = driver && flr_device_look(driver, NULL, NULL, &why) == FLR_OK;
    snprintf(value, sizeof value, "%s (USB %.4s:%.4s) is plugged in%s", k->name, vendor, product,
             works ? "" : ", and cannot be used yet");
    int used = snprintf(advice, sizeof advice, "%s", k->needs);
    if (!allowed)
        snprintf(advice + used, sizeof advice - (size_t)used,
                 ". Your user may not use %s: put the line SUBSYSTEMS==\"usb\", "
                 "ATTRS{idVendor}==\"%.4s\", MODE=\"0660\", TAG+=\"uaccess\" into "
                 "/etc/udev/rules.d/70-feeler.rules, run udevadm control --reload and udevadm "
                 "trigger as root, and plug the device in again",
                 node + strlen(root), vendor);
    json_t *numbers = flr_json_object();
    flr_json_set(numbers, "driver", flr_json_text(k->driver));
    flr_json_set(numbers, "usb_vendor", flr_json_text(vendor));
    flr_json_set(numbers, "usb_product", flr_json_text(product));
    flr_json_set(numbers, "node", flr_json_text(node + strlen(root)));
    flr_json_set(numbers, "allowed", json_boolean(allowed));
    flr_doctor_say(doctor, "usb", works, value, advice, numbers);
}

void flr_doctor_usb(flr_doctor *doctor)
{
    const char *named = getenv("FEELER_DOCTOR_ROOT"), *root = named ? named : "";
    char folder[PATH_SIZE];
    snprintf(folder, sizeof folder, "%.200s/sys/bus/usb/devices", root);
    struct dirent **entries = NULL;
    const int count = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char path[PATH_SIZE];
        if (entries[i]->d_name[0] != '.' && (size_t)snprintf(path, sizeof path, "%s/%s", folder,
                                                             entries[i]->d_name) < sizeof path) {
            const known_device *k = recognise(path);
            if (k) tell(doctor, root, path, k);
        }
        free(entries[i]);
    }
    free(entries);
}
