theme.start();
runsTable.start();
dialogs.start();
copying.start();
saving.start();
printing.start();
charts.start();
document.documentElement.dataset.ready = "yes";
performance.mark("ready");
